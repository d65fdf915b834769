import type { Json, JsonObject } from '@capstan/contracts';
import './intent.css';
import { SafeText } from '../ui/safe-text.js';

const MAX_PARTS = 3;
const MAX_LENGTH = 90;
/** The inputs that best describe what a call would do, most important first. */
const TELLING = [
  'cmd',
  'command',
  'query',
  'sql',
  'url',
  'path',
  'to',
  'recipient',
  'amount',
  'method',
  'name',
  'message',
];

const rank = (name: string): number => {
  const at = TELLING.indexOf(name.toLowerCase());
  return at < 0 ? TELLING.length : at;
};

const short = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

const asText = (value: Json): string => {
  if (typeof value === 'string') return short(value);
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return short(value.join(' '));
  return short(JSON.stringify(value));
};

/** The important inputs, in order of importance. */
const tellingInputs = (inputs: JsonObject): [name: string, text: string][] =>
  Object.entries(inputs)
    .filter(([, value]) => value !== null && value !== '')
    .sort(([one, value], [other, against]) => rank(one) - rank(other) || weight(value) - weight(against))
    .slice(0, MAX_PARTS)
    .map(([name, value]) => [name, asText(value)]);

const weight = (value: Json): number => (typeof value === 'object' ? 1 : 0);

/** Describes in one line what a call would do: the tool and the important inputs. */
export const Intent = ({ tool_id, inputs }: { tool_id: string; inputs?: JsonObject | undefined }) => (
  <span className="intent">
    <span className="intent-tool">
      <SafeText text={tool_id} />
    </span>
    {tellingInputs(inputs ?? {}).map(([name, text]) => (
      <span key={name} className="intent-part">
        <span className="intent-name">
          <SafeText text={name} />=
        </span>
        <SafeText text={text} />
      </span>
    ))}
  </span>
);
