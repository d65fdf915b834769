import type { Backbone } from '@capstan/backbone';
import type { Answers, Question } from '@capstan/contracts';
import type { Resumed } from '@capstan/runners';
import type { Claimed } from '@capstan/store/claim';
import { askLive, endLiveQuestion, readAnswers, readLiveAnswer } from '@capstan/store/hold';
import { type NewCallState, putCallState, readCallState } from '@capstan/store/invocation';
import type { Running } from './running.js';

/** Questions that a tool asks during a call, and checkpoints that the next attempt resumes from. */
export type QuestionPorts = {
  checkpoint(claimed: Claimed, checkpoint: NewCallState): Promise<void>;
  resumed(claimed: Claimed): Promise<Resumed | null>;
  ask(running: Running, question: Question, timeout_ms: number, withdrawn?: AbortSignal): Promise<Answers | null>;
};

/** Polling interval, in case a signal is lost. */
const LOOK_MS = 1000;

/** `onHeldTask` is called when a call is about to be held while its task continues on its server: check the task after `in_ms`. */
export function createQuestionPorts(
  { store, relay }: Pick<Backbone, 'store' | 'relay'>,
  onHeldTask: (in_ms: number) => void = () => {},
): QuestionPorts {
  const waiting = new Map<string, () => void>();
  relay.subscribe('changed', (ids) => {
    for (const id of ids) waiting.get(id)?.();
  });
  const change = (invocation_id: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waiting.delete(invocation_id);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, LOOK_MS);
      waiting.set(invocation_id, done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });

  return {
    checkpoint: async ({ invocation_id }, checkpoint) => {
      await putCallState(store, invocation_id, checkpoint);
      if (checkpoint.look_ms !== undefined) onHeldTask(checkpoint.look_ms);
    },
    resumed: async ({ invocation_id }) => {
      const checkpoint = await readCallState(store.db, invocation_id);
      return checkpoint ? { state: checkpoint.state, answers: await readAnswers(store.db, invocation_id) } : null;
    },
    ask: async ({ claimed, signal: stopped }, question, timeout_ms, withdrawn) => {
      const signal = withdrawn ? AbortSignal.any([stopped, withdrawn]) : stopped;
      const { invocation_id, tenant, actor, tool_id } = claimed;
      const round = await askLive(store, {
        invocation_id,
        tenant,
        actor,
        tool_id,
        question,
        expires_in_ms: timeout_ms,
      });
      relay.publish('due', ['now']);
      relay.publish('changed', [invocation_id]);
      try {
        while (!signal.aborted) {
          const changed = change(invocation_id, signal);
          const answer = await readLiveAnswer(store.db, invocation_id, round);
          if (answer.kind === 'answered') return answer.answers;
          if (answer.kind === 'closed') return null;
          await changed;
        }
        return null;
      } finally {
        await endLiveQuestion(store.db, invocation_id);
      }
    },
  };
}
