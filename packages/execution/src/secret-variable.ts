import { EnvError } from '@capstan/backbone';
import { DEFAULT_TENANT, SecretName } from '@capstan/contracts';

export type SecretPlace = { tenant: string; name: string };

const PREFIX = 'CAPSTAN_SECRET_';
const SEPARATOR = '__';

/**
 * The environment variable of a secret: `CAPSTAN_SECRET_<NAME>` for the tenant `default`, else
 * `CAPSTAN_SECRET__<TENANT>__<NAME>`. No two secrets share a variable.
 */
export const secretVariable = ({ tenant, name }: SecretPlace): string =>
  tenant === DEFAULT_TENANT ? `${PREFIX}${encode(name)}` : `${PREFIX}_${encode(tenant)}${SEPARATOR}${encode(name)}`;

/**
 * Lower-case letters become upper case, digits stay, and so does an underscore between two of them. Every other character
 * is `_x` and its two hexadecimal digits. So `a-b`, `a.b`, `a_b` and `A_b` differ, and `__` is only ever a separator.
 */
const encode = (word: string): string =>
  [...word]
    .map((character, at) => {
      if (isPlain(character)) return character.toUpperCase();
      if (character === '_' && isPlain(word[at - 1]) && isPlain(word[at + 1])) return '_';
      return `_x${character.charCodeAt(0).toString(16).toUpperCase()}`;
    })
    .join('');

const isPlain = (character: string | undefined): boolean => character !== undefined && /^[a-z0-9]$/.test(character);

const decode = (part: string): string =>
  part.replaceAll(/_x([0-9A-F]{2})|[A-Z]/g, (found, hex?: string) =>
    hex === undefined ? found.toLowerCase() : String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** All secrets in the environment, by variable. A variable that is not the spelling of any secret stops the start. */
export function readSecretVariables(env: Readonly<Record<string, string | undefined>>): Map<string, string> {
  const values = new Map<string, string>();
  const wrong: string[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || value === undefined || value === '') continue;
    if (isSpelled(variable)) values.set(variable, value);
    else wrong.push(`${variable} names no secret: ${suggest(variable)}`);
  }
  if (wrong.length > 0) throw new EnvError(wrong);
  return values;
}

const PART = '(?:[A-Z0-9]|_x[0-9A-F]{2}|_(?=[A-Z0-9]))+';
const SPELLING = new RegExp(`^${PREFIX}(?:_(${PART})${SEPARATOR})?(${PART})$`);

function isSpelled(variable: string): boolean {
  const [, tenant, name = ''] = SPELLING.exec(variable) ?? [];
  const place = { tenant: tenant === undefined ? DEFAULT_TENANT : decode(tenant), name: decode(name) };
  return isPlace(place) && secretVariable(place) === variable;
}

const isPlace = ({ tenant, name }: SecretPlace): boolean =>
  [tenant, name].every((word) => SecretName.safeParse(word).success);

/** What was probably meant: a tenant and a name, or a name alone. */
function suggest(variable: string): string {
  const word = variable.slice(PREFIX.length).replace(/^_+/, '').toLowerCase();
  const [tenant = '', ...rest] = word.split(SEPARATOR);
  const places: SecretPlace[] = [
    { tenant, name: rest.join(SEPARATOR) },
    { tenant: DEFAULT_TENANT, name: word },
  ];
  return places
    .filter(isPlace)
    .map((place) => `write ${secretVariable(place)} for ${place.name} of the tenant ${place.tenant}`)
    .concat('see "Secrets" in the README of the worker for the spelling')
    .join(', or ');
}
