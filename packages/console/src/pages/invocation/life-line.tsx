import type { InvocationDetail } from '@capstan/contracts';
import { hasEnded } from '../../api/invocations.js';
import { inWords, type Tone, toneOf } from '../../ui/badge.js';
import { duration, exactTime, useNow } from '../../ui/time.js';
import { Tip } from '../../ui/tip.js';

type Moment = { name: string; at: string; tone: Tone; note?: string };

/** The timeline of a call: submitted, decided, held, started, ended, with the time in between. */
export function LifeLine({ call }: { call: InvocationDetail }) {
  const now = useNow();
  const moments = momentsOf(call);
  const open = !hasEnded(call.status);
  return (
    <ol className="life" aria-label="Life of the call">
      {moments.map(({ name, at, tone, note }, place) => {
        const next = moments[place + 1];
        const until = next ? Date.parse(next.at) : open ? now : null;
        const last = place === moments.length - 1;
        return (
          <li key={`${name} ${at}`} className={`life-moment tone-${tone} ${last && open ? 'now' : ''}`}>
            <Tip text={`${exactTime(at)}${note ? `: ${note}` : ''}`}>
              <span className="life-name">
                <span className="dot" />
                {name}
              </span>
            </Tip>
            <span className="life-span num">
              {until === null
                ? `${duration(Math.max(0, Date.parse(at) - Date.parse(call.created_at)))} in all`
                : duration(Math.max(0, until - Date.parse(at)))}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function momentsOf({ created_at, decision, hold, attempts, finished_at, status }: InvocationDetail): Moment[] {
  const moments: Moment[] = [{ name: 'Submitted', at: created_at, tone: 'grey', note: decision.reason }];
  if (hold) {
    moments.push({ name: 'Held', at: hold.created_at, tone: 'amber', note: hold.reason });
    if (hold.decided_at)
      moments.push({
        name: hold.status === 'released' ? 'Approved' : inWords(hold.status),
        at: hold.decided_at,
        tone: toneOf(hold.status),
        ...(hold.decided_by ? { note: `by ${hold.decided_by}` } : {}),
      });
  } else if (decision.effect === 'allow') moments.push({ name: 'Queued', at: created_at, tone: 'grey' });
  for (const { attempt, started_at, ended_at, outcome } of attempts) {
    const which = attempts.length > 1 ? ` (${attempt})` : '';
    moments.push({ name: `Started${which}`, at: started_at, tone: 'blue' });
    if (ended_at && attempt < attempts.length)
      moments.push({ name: inWords(outcome ?? 'ended'), at: ended_at, tone: 'red' });
  }
  if (finished_at && hasEnded(status) && hold?.decided_at !== finished_at)
    moments.push({ name: inWords(status), at: finished_at, tone: toneOf(status) });
  return moments;
}
