import { isObject, type JsonObject, type Risk, type SideEffect } from '@capstan/contracts';
import { keyword } from '../schema/subschemas.js';

/** Evidence for a danger of a tool. A weak clue only fills in what was not declared; any other also overrides a declaration. */
export type Clue = { risk: Risk; side_effect: SideEffect | null; why: string; weak?: boolean };

/** The words that a tool is known by. */
export type Words = { name: string; description: string; input_schema?: JsonObject | undefined };

type Meaning = { words: string; risk: Risk; side_effect: SideEffect | null };

/** Count anywhere in a name or description. */
const STRONG: Meaning[] = [
  { words: 'write writes writing overwrite overwrites', risk: 'HIGH', side_effect: 'fs.write' },
  { words: 'delete deletes deleting destroy destroys', risk: 'HIGH', side_effect: 'fs.delete' },
  { words: 'exec execute executes executing', risk: 'HIGH', side_effect: 'system.exec' },
];

/** The subjects of a tool. Reading about them is harmless, so these count only if the tool does more than read. */
const ABOUT: Meaning[] = [
  { words: 'pay pays payment payments refund refunds money payout funds', risk: 'CRITICAL', side_effect: 'payments' },
  { words: 'cloud', risk: 'CRITICAL', side_effect: 'cloud.resource_create' },
];

/** The verb of a name, or the first word of a description. */
const VERBS: Meaning[] = [
  {
    words:
      'remove drop purge erase wipe truncate clear uninstall revoke kill terminate cancel reset ban unsubscribe unlink stop restart shutdown reboot block lock archive',
    risk: 'HIGH',
    side_effect: null,
  },
  {
    words:
      'update set edit modify change rename move replace patch upload upsert append merge reschedule restore rotate disable enable unlock approve install reserve',
    risk: 'HIGH',
    side_effect: null,
  },
  {
    words: 'send post publish share tweet email invite submit deploy push forward reply transfer',
    risk: 'HIGH',
    side_effect: 'network.http',
  },
  { words: 'buy purchase charge checkout withdraw sell trade donate wire', risk: 'CRITICAL', side_effect: 'payments' },
  { words: 'bash shell terminal eval spawn', risk: 'HIGH', side_effect: 'system.exec' },
];

const READING = new Set(
  (
    'get list search read find fetch show describe count check view query lookup look validate compare calculate compute convert ' +
    'summarize explain analyze estimate preview diff stat browse inspect download retrieve sum average translate parse encode decode'
  ).split(' '),
);

const MAKING = new Set(
  'create add make insert schedule book reserve new open start launch generate run issue grant'.split(' '),
);

/** Credentials that let their holder act as someone else. */
const ACCESS = new Set(
  'password passwords permission permissions role roles credential credentials secret secrets token tokens access'.split(
    ' ',
  ),
);

/** Reading these is enough to act as somebody else. */
const CREDENTIALS: Meaning = {
  words: 'password passwords credential credentials secret secrets',
  risk: 'HIGH',
  side_effect: null,
};
const REVEALING = new Set('get list read fetch show view download retrieve'.split(' '));

/** Resources that are rented by the hour. */
const RENTED = new Set('vm vms bucket buckets instance instances cluster clusters'.split(' '));
const ENDING = new Set('remove delete destroy terminate purge'.split(' '));

const CONNECTING = new Set('fetch download open browse crawl scrape navigate'.split(' '));

const AMOUNTS = new Set(['amount', 'price', 'total', 'sum']);
const PARTIES = new Set([
  ...['recipient', 'iban', 'account', 'currency', 'card', 'payee', 'payer', 'beneficiary', 'account_id', 'card_number'],
]);
const COMMANDS = new Set(['command', 'cmd', 'shell_command', 'script', 'bash']);

/**
 * Infers dangers from the words of a tool. The verb of its name decides first: a tool that lists a cloud drive is not
 * dangerous because of the word "cloud", but one that sends money is, although "send" alone would be less.
 */
export function cluesInWords({ name, description, input_schema }: Words): Clue[] {
  const inName = wordsOf(name);
  const everywhere = new Set([...inName, ...wordsOf(withoutDrives(description))]);
  const verbs = verbsOf(inName, description).filter((verb) => verb !== 'checkout' || !isAboutSource(everywhere));
  const strong = STRONG.flatMap((meaning) => meant(meaning, everywhere, 'in its name or description'));
  const reads = verbs.length > 0 && verbs.every((verb) => READING.has(verb));
  const inSchema = cluesInSchema(input_schema, verbs, reads);
  if (reads) {
    const reveals = verbs.some((verb) => REVEALING.has(verb));
    return [...strong, ...(reveals ? meant(CREDENTIALS, new Set(inName), 'in its name').map(weaker) : []), ...inSchema];
  }
  return [
    ...strong,
    ...ABOUT.flatMap((meaning) => meant(meaning, everywhere, 'in its name or description')),
    ...VERBS.flatMap((meaning) => meant(meaning, new Set(verbs), 'as what it does')).map(weaker),
    ...(verbs.length > 0 ? meant(ACCESS_MEANING, new Set(inName), 'in its name').map(weaker) : []),
    ...(verbs.length > 0 ? rentedIn(inName, verbs) : []),
    ...inSchema,
  ];
}

/** One verb for each part of `find_and_remove_user`. If the name has none, the first word of the description. */
function verbsOf(inName: readonly string[], description: string): string[] {
  const parts = inName.join(' ').split(/ (?:and|or|then) /);
  const verbs = parts.flatMap((part) => part.split(' ').find(isVerb) ?? []);
  return verbs.length > 0 ? verbs : wordsOf(description).slice(0, 1).map(plain).filter(isVerb);
}

/** For a repository, a checkout is not a payment. */
const isAboutSource = (words: ReadonlySet<string>): boolean =>
  ['git', 'branch', 'branches', 'commit', 'repository'].some((word) => words.has(word));

function rentedIn(inName: readonly string[], verbs: readonly string[]): Clue[] {
  const thing = inName.find((word) => RENTED.has(word));
  if (thing === undefined) return [];
  const ends = verbs.some((verb) => ENDING.has(verb));
  if (!ends && !verbs.some((verb) => MAKING.has(verb))) return [];
  const side_effect = ends ? 'cloud.resource_delete' : 'cloud.resource_create';
  return [{ risk: 'CRITICAL', side_effect, why: `the word "${thing}" in its name`, weak: true }];
}

const ACCESS_MEANING: Meaning = { words: [...ACCESS].join(' '), risk: 'HIGH', side_effect: null };

/** Payments that only the inputs reveal, inputs that are programs, and addresses to connect to. */
function cluesInSchema(schema: JsonObject | undefined, verbs: readonly string[], reads: boolean): Clue[] {
  const properties = schema && keyword(schema, 'properties');
  if (!isObject(properties)) return [];
  const names = Object.keys(properties).map((name) => name.toLowerCase());
  const amount = names.find((name) => AMOUNTS.has(name));
  const party = names.find((name) => PARTIES.has(name));
  const command = names.find((name) => COMMANDS.has(name));
  const clues: Clue[] = [];
  if (amount && party && !reads)
    clues.push({ risk: 'CRITICAL', side_effect: 'payments', why: `its inputs "${amount}" and "${party}"`, weak: true });
  if (command) clues.push({ risk: 'HIGH', side_effect: 'system.exec', why: `its input "${command}"`, weak: true });
  if (names.includes('sql'))
    clues.push({ risk: 'HIGH', side_effect: 'database.write', why: 'its input "sql"', weak: true });
  if (names.includes('url') && names.includes('method'))
    clues.push({ risk: 'HIGH', side_effect: 'network.http', why: 'its inputs "url" and "method"', weak: true });
  else if (names.includes('url') && verbs.some((verb) => CONNECTING.has(verb)))
    clues.push({ risk: 'MED', side_effect: 'network.http', why: 'its input "url"', weak: true });
  return clues;
}

/** Compares whole words: `rewritten` and `undeleted` mean something else. */
function meant({ words, risk, side_effect }: Meaning, found: ReadonlySet<string>, where: string): Clue[] {
  const word = words.split(' ').find((each) => found.has(each));
  return word === undefined ? [] : [{ risk, side_effect, why: `the word "${word}" ${where}` }];
}

const weaker = (clue: Clue): Clue => ({ ...clue, weak: true });

const VERB_WORDS = new Set([...VERBS, ...STRONG].flatMap(({ words }) => words.split(' ')));
const isVerb = (word: string): boolean =>
  READING.has(word) || MAKING.has(word) || VERB_WORDS.has(word) || CONNECTING.has(word);

/** "Removes a user" begins with the verb of "Remove a user". */
const plain = (word: string): string => (isVerb(word) ? word : word.replace(/s$/, ''));

/** Cloud storage for files is not a cloud to rent machines in. */
const withoutDrives = (text: string): string => text.replace(/\bcloud[ -](drive|storage|file|document)/gi, '$1');

const wordsOf = (text: string): string[] =>
  text
    // camelCase names have words too.
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
