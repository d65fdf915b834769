import { InvalidArgumentError } from 'commander';

export const integer =
  (min: number, max = Number.MAX_SAFE_INTEGER): ((text: string) => number) =>
  (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value;
    const upTo = max === Number.MAX_SAFE_INTEGER ? ` from ${min} up` : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`Expected a whole number${upTo}.`);
  };
