import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Default messages of zod, used if a schema has no message of its own. */
const OWN_WORDS = /^(Invalid|Too (small|big)|Unrecognized key)/;

/** Describes a validation error so that the text can follow the field name: `limit: must be a whole number`. */
export function issueText(issue: Issue): string {
  if (!OWN_WORDS.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return /received undefined$/.test(issue.message)
        ? 'is missing'
        : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${listed(issue.values.map((value) => (typeof value === 'string' ? value : String(value))))}`;
    case 'too_small':
      return sizeText(issue.origin, Number(issue.minimum), 'at least', issue.inclusive === false);
    case 'too_big':
      return sizeText(issue.origin, Number(issue.maximum), 'at most', issue.inclusive === false);
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not written as it should be';
    case 'not_multiple_of':
      return issue.divisor === 1 ? 'must be a whole number' : `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has ${issue.keys.join(', ')}, which it does not take`;
    case 'invalid_union':
      return unionText(issue.errors);
    case 'invalid_key':
      return issue.issues[0] ? `its name ${issueText(issue.issues[0])}` : 'is no name that is taken here';
    default:
      return 'is not valid';
  }
}

const KINDS: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
  date: 'a date',
};

const FORMATS: Partial<Record<string, string>> = {
  datetime: 'must be a time like 2026-01-31T12:00:00Z',
  date: 'must be a date like 2026-01-31',
  url: 'must be an address like https://example.com/',
  email: 'must be an email address',
  uuid: 'must be a UUID',
  base64: 'must be base64',
};

const MOST = 20;
const listed = (values: readonly string[]): string => {
  if (values.length === 1) return values[0] ?? '';
  const more = values.length > MOST ? ', …' : '';
  return `one of ${values.slice(0, MOST).join(', ')}${more}`;
};

function sizeText(origin: string, bound: number, which: 'at least' | 'at most', exclusive: boolean): string {
  const of = { string: 'character', array: 'item', set: 'item', map: 'entry', object: 'entry' }[origin];
  if (of !== undefined) {
    if (which === 'at least' && bound === 1) return 'must not be empty';
    return `must have ${which} ${bound} ${bound === 1 ? of : `${of.replace(/y$/, 'ie')}s`}`;
  }
  if (exclusive) return `must be ${which === 'at least' ? 'more' : 'less'} than ${bound}`;
  return `must be ${which} ${bound}`;
}

/** For a union, reports the error of the closest form. If none is close, names all of them. */
function unionText(forms: readonly (readonly Issue[])[]): string {
  const firsts = forms.flatMap(([issue]) => issue ?? []);
  const inside = firsts.filter(({ path }) => path.length > 0);
  const [nearest] = inside;
  if (nearest && inside.length === 1) {
    // The index in a list is left out, because a single value may be given in place of the list.
    const place = nearest.path.filter((part) => typeof part !== 'number').join('.');
    return place === '' ? issueText(nearest) : `${place}: ${issueText(nearest)}`;
  }
  const texts = [...new Set(firsts.filter(({ path }) => path.length === 0).map(issueText))];
  const [first, ...others] = texts;
  if (first === undefined) return 'is in none of the forms that are taken here';
  return [first, ...others.map((text) => text.replace(/^must be /, ''))].join(' or ');
}
