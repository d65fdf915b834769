import { InvalidArgumentError } from 'commander';
import { parseDuration } from './duration.js';

/** A timestamp from an ISO time or an age (`10m`, `2h`, `3d`). */
export const parseMoment =
  (now: () => Date): ((text: string) => string) =>
  (text) => {
    if (/^\d{4}-\d\d-\d\d/.test(text)) {
      const at = Date.parse(text);
      if (!Number.isNaN(at)) return new Date(at).toISOString();
    }
    try {
      return new Date(now().getTime() - parseDuration(text)).toISOString();
    } catch {
      throw new InvalidArgumentError('Expected a time like 2026-01-31T12:00:00Z, or an age like 10m, 2h, 3d.');
    }
  };
