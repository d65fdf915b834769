import { InvalidArgumentError } from 'commander';

/** A parser for one of these words. The record makes the compiler check that the list is complete. */
export const choice =
  <Word extends string>(words: Readonly<Record<Word, true>>): ((text: string) => Word) =>
  (text) => {
    const isWord = (candidate: string): candidate is Word => Object.hasOwn(words, candidate);
    if (isWord(text)) return text;
    throw new InvalidArgumentError(`Expected one of ${Object.keys(words).join(', ')}.`);
  };

/** The same for an option with several words, comma-separated or repeated. */
export const choices =
  <Word extends string>(words: Readonly<Record<Word, true>>): ((text: string, before?: Word[]) => Word[]) =>
  (text, before = []) => {
    const parse = choice(words);
    const added = text.split(',').map((each) => parse(each.trim()));
    return [...new Set([...before, ...added])];
  };
