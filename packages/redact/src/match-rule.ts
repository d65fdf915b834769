import { type CharClass, isMember, runEnd } from './char-class.js';
import type { OneOf, Rule, Run } from './rules.js';

/** `open`: the match reached the end of the text so far and goes on over these characters. */
export type Match = { from: number; to: number; open: CharClass | undefined };
/** `partial`: more text is needed to tell. */
export type MatchResult = Match | 'none' | 'partial';

type Step = { to: number; complete?: boolean; open?: CharClass } | 'none' | 'partial';

/** Tries `rule` on `text` at `at`. With `final`, there is no more text, so the answer is never `partial` nor open. */
export const matchRule = (rule: Rule, text: string, at: number, final: boolean): MatchResult => {
  const start = matchOneOf({ one_of: rule.starts }, text, at, final);
  if (typeof start === 'string') return start;
  let { to } = start;
  let from = at;
  for (const [index, part] of rule.parts.entries()) {
    if (index === rule.hidden_from) from = to;
    const step = 'run' in part ? matchRun(part, text, to, final) : matchOneOf(part, text, to, final);
    if (typeof step === 'string') return step;
    to = step.to;
    if (step.complete || step.open) return { from, to, open: step.open };
  }
  return { from, to, open: undefined };
};

/** The longest that fits. */
const matchOneOf = ({ one_of }: OneOf, text: string, at: number, final: boolean): Step => {
  let to = -1;
  for (const literal of one_of) {
    if (text.startsWith(literal, at)) to = Math.max(to, at + literal.length);
    else if (!final && literal.startsWith(text.slice(at, at + literal.length))) return 'partial';
  }
  return to < 0 ? 'none' : { to };
};

const matchRun = (part: Run, text: string, at: number, final: boolean): Step => {
  const limit = part.max === undefined ? Number.POSITIVE_INFINITY : at + part.max;
  const completion = part.complete_after ? endOfFirst(part.complete_after, text, at, limit) : undefined;
  const to = runEnd(part.run, text, at, completion ?? limit);
  if (to === completion) return { to, complete: true };
  const undecided = !final && to === text.length && to < limit;
  if (undecided) return part.max === undefined && to - at >= part.min ? { to, open: part.run } : 'partial';
  if (to - at < part.min) return 'none';
  const run = text.slice(at, to);
  if (part.ends_with && !run.endsWith(part.ends_with)) return 'none';
  if (part.contains && !holdsOne(part.contains, run)) return 'none';
  return { to };
};

const endOfFirst = (ending: string, text: string, from: number, limit: number): number | undefined => {
  const index = text.slice(from, limit).indexOf(ending);
  return index < 0 ? undefined : from + index + ending.length;
};

const holdsOne = (members: CharClass, run: string): boolean => {
  for (const char of run) if (isMember(members, char)) return true;
  return false;
};
