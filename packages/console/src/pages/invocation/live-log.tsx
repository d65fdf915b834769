import type { InvocationEvent } from '@capstan/contracts';
import { useEffect, useRef, useState } from 'react';
import { EmptyState } from '../../ui/empty.js';
import { SafeText } from '../../ui/safe-text.js';

type Line = { key: string; stream: 'stdout' | 'stderr'; text: string };

const MAX_LINES = 5000;

/** The live output of a tool. The view stays at the end unless the user has scrolled up. */
export function LiveLog({ id }: { id: string }) {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [over, setOver] = useState(false);
  const box = useRef<HTMLElement>(null);
  const follow = useRef(true);

  useEffect(() => {
    setLines([]);
    setOver(false);
    const source = new EventSource(`/v1/invocations/${encodeURIComponent(id)}/events`);
    source.addEventListener('log', (message: MessageEvent<string>) => {
      const { stream, text }: Extract<InvocationEvent, { event: 'log' }>['data'] = JSON.parse(message.data);
      const key = message.lastEventId;
      setLines((before) => [...before.slice(-MAX_LINES), { key, stream, text }]);
    });
    // The stream ends with the result. Close it, because the browser would reopen it.
    source.addEventListener('result', () => {
      setOver(true);
      source.close();
    });
    return () => source.close();
  }, [id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line moves the view
  useEffect(() => {
    if (follow.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines]);

  if (lines.length === 0)
    return (
      <EmptyState tight title={over ? 'No output' : 'No output yet'}>
        <p>{over ? 'Some tools only return a result.' : 'Lines appear here as the tool writes them.'}</p>
      </EmptyState>
    );
  return (
    <section
      ref={box}
      className="block log"
      aria-label="Log"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follow.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {lines.map(({ key, stream, text }) => (
        <div key={key} className={`log-line ${stream}`}>
          <SafeText text={text.replace(/\n$/, '')} line={false} />
        </div>
      ))}
    </section>
  );
}
