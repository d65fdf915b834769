import type { JsonObject, Risk, SideEffect } from '@capstan/contracts';
import { isObject, keyword } from '../schema/subschemas.js';

/** What gives a tool away. A weak clue fills in what was not declared; any other counts against a declaration, too. */
export type Clue = { risk: Risk; side_effect: SideEffect | null; why: string; weak?: boolean };

/** The words that a tool is known by. */
export type Words = { name: string; description: string; input_schema?: JsonObject | undefined };

type Meaning = { words: string; risk: Risk; side_effect: SideEffect | null };

/** Wherever they stand, in a name or in a description. */
const STRONG: Meaning[] = [
  { words: 'write writes writing overwrite overwrites', risk: 'HIGH', side_effect: 'fs.write' },
  { words: 'delete deletes deleting destroy destroys', risk: 'HIGH', side_effect: 'fs.delete' },
  { words: 'exec execute executes executing', risk: 'HIGH', side_effect: 'system.exec' },
];

/** What a tool is about. Looking at it is no harm, so these count only where the tool does more. */
const ABOUT: Meaning[] = [
  { words: 'pay pays payment payments refund refunds money payout', risk: 'CRITICAL', side_effect: 'payments' },
  { words: 'cloud', risk: 'CRITICAL', side_effect: 'cloud.resource_create' },
];

/** The verb of a name, or the first word of a description. */
const VERBS: Meaning[] = [
  {
    words:
      'remove drop purge erase wipe truncate clear uninstall revoke kill terminate cancel reset ban unsubscribe unlink',
    risk: 'HIGH',
    side_effect: null,
  },
  {
    words:
      'update set edit modify change rename move replace patch upload upsert append merge reschedule restore rotate disable enable',
    risk: 'HIGH',
    side_effect: null,
  },
  {
    words: 'send post publish share tweet email invite submit deploy push forward reply transfer',
    risk: 'HIGH',
    side_effect: 'network.http',
  },
  { words: 'buy purchase charge checkout withdraw', risk: 'CRITICAL', side_effect: 'payments' },
  { words: 'bash shell terminal eval spawn', risk: 'HIGH', side_effect: 'system.exec' },
];

const READING = new Set(
  (
    'get list search read find fetch show describe count check view query lookup look validate compare calculate compute convert ' +
    'summarize explain analyze estimate preview diff stat browse inspect fill download retrieve'
  ).split(' '),
);

const MAKING = new Set(
  'create add make insert schedule book reserve new open start generate run issue grant'.split(' '),
);

/** Who holds these may act as somebody else. */
const ACCESS = new Set(
  'password passwords permission permissions role roles credential credentials secret secrets token tokens access'.split(
    ' ',
  ),
);

const AMOUNTS = new Set(['amount', 'price', 'total', 'sum']);
const PARTIES = new Set([
  ...['recipient', 'iban', 'account', 'currency', 'card', 'payee', 'payer', 'beneficiary', 'account_id', 'card_number'],
]);
const COMMANDS = new Set(['command', 'cmd', 'shell_command', 'script', 'bash']);

/**
 * What a tool's words give away. The verb of its name decides first: a tool that lists what is in a cloud drive is no
 * danger for the word "cloud", one that sends money is although "send" alone would be less.
 */
export function cluesInWords({ name, description, input_schema }: Words): Clue[] {
  const inName = wordsOf(name);
  const verb = inName.find(isVerb) ?? wordsOf(description).slice(0, 1).map(plain).find(isVerb);
  const everywhere = new Set([...inName, ...wordsOf(withoutDrives(description))]);
  const inNameOrDescription = 'in its name or description';
  const reads = verb !== undefined && READING.has(verb);
  const strong = STRONG.flatMap((meaning) => meant(meaning, everywhere, inNameOrDescription));
  if (reads) return [...strong, ...cluesInSchema(input_schema, verb)];
  return [
    ...strong,
    ...ABOUT.flatMap((meaning) => meant(meaning, everywhere, inNameOrDescription)),
    ...VERBS.flatMap((meaning) => meant(meaning, new Set(verb === undefined ? [] : [verb]), 'as what it does')).map(
      weaker,
    ),
    ...(verb === undefined ? [] : meant(ACCESS_MEANING, new Set(inName), 'in its name').map(weaker)),
    ...cluesInSchema(input_schema, verb),
  ];
}

const ACCESS_MEANING: Meaning = { words: [...ACCESS].join(' '), risk: 'HIGH', side_effect: null };

/** Payments of which only the inputs tell, and inputs that are programs. */
function cluesInSchema(schema: JsonObject | undefined, verb: string | undefined): Clue[] {
  const properties = schema && keyword(schema, 'properties');
  if (!isObject(properties)) return [];
  const names = Object.keys(properties).map((name) => name.toLowerCase());
  const amount = names.find((name) => AMOUNTS.has(name));
  const party = names.find((name) => PARTIES.has(name));
  const command = names.find((name) => COMMANDS.has(name));
  const clues: Clue[] = [];
  if (amount && party && (verb === undefined || !READING.has(verb)))
    clues.push({ risk: 'CRITICAL', side_effect: 'payments', why: `its inputs "${amount}" and "${party}"`, weak: true });
  if (command) clues.push({ risk: 'HIGH', side_effect: 'system.exec', why: `its input "${command}"`, weak: true });
  if (names.includes('sql'))
    clues.push({ risk: 'HIGH', side_effect: 'database.write', why: 'its input "sql"', weak: true });
  return clues;
}

/** Words are compared whole: `rewritten` and `undeleted` say something else. */
function meant({ words, risk, side_effect }: Meaning, found: ReadonlySet<string>, where: string): Clue[] {
  const word = words.split(' ').find((each) => found.has(each));
  return word === undefined ? [] : [{ risk, side_effect, why: `the word "${word}" ${where}` }];
}

const weaker = (clue: Clue): Clue => ({ ...clue, weak: true });

const VERB_WORDS = new Set([...VERBS, ...STRONG].flatMap(({ words }) => words.split(' ')));
const isVerb = (word: string): boolean => READING.has(word) || MAKING.has(word) || VERB_WORDS.has(word);

/** "Removes a user" begins with the verb of "Remove a user". */
const plain = (word: string): string => (isVerb(word) ? word : word.replace(/s$/, ''));

/** Storage for files is called a cloud without being one that machines are rented in. */
const withoutDrives = (text: string): string => text.replace(/\bcloud[ -](drive|storage|file|document)/gi, '$1');

const wordsOf = (text: string): string[] =>
  text
    // camelCase names have words too.
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
