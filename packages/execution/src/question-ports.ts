import type { Backbone } from '@capstan/backbone';
import type { Answers, Question } from '@capstan/contracts';
import type { Resumed } from '@capstan/runners';
import {
  askLive,
  type CallState,
  type Claimed,
  endLiveQuestion,
  putCallState,
  readAnswers,
  readCallState,
  readLiveAnswer,
} from '@capstan/store';
import type { Running } from './running.js';

/** What a tool asks in the middle of a call, and what its next attempt goes on from. */
export type QuestionPorts = {
  checkpoint(claimed: Claimed, checkpoint: CallState): Promise<void>;
  resumed(claimed: Claimed): Promise<Resumed | null>;
  ask(running: Running, question: Question, timeout_ms: number): Promise<Answers | null>;
};

/** For signals that were lost. */
const LOOK_MS = 1000;

export function createQuestionPorts({ store, relay }: Pick<Backbone, 'store' | 'relay'>): QuestionPorts {
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
    checkpoint: ({ invocation_id }, checkpoint) => putCallState(store, invocation_id, checkpoint),
    resumed: async ({ invocation_id, attempt }) => {
      if (attempt === 1) return null;
      const checkpoint = await readCallState(store.db, invocation_id);
      return checkpoint ? { state: checkpoint.state, answers: await readAnswers(store.db, invocation_id) } : null;
    },
    ask: async ({ claimed, signal }, question, timeout_ms) => {
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
