import type { Json } from '@capstan/contracts';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { CopyButton } from './id.js';
import { SafeText } from './safe-text.js';
import './json-view.css';

/** The number of members shown before the rest must be expanded. */
const FIRST = 100;
const LONG_TEXT = 400;

type ViewProps = { value: unknown; label: string; depth?: number };

/** A value as a collapsible tree. All text in it is inert. */
export const JsonView = ({ value, label, depth = 2 }: ViewProps) => (
  <div className="json block" role="group" aria-label={label} tabIndex={0}>
    <span className="id json-copy">
      <CopyButton text={JSON.stringify(value, null, 2) ?? 'null'} label={`Copy ${label.toLowerCase()}`} />
    </span>
    <Root value={value as Json} open={depth} />
  </div>
);

/** The root is not collapsible. */
const Root = ({ value, open }: { value: Json; open: number }) =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? (
    <List value={value} open={open} />
  ) : (
    <Node value={value} open={open} />
  );

function Node({ value, open }: { value: Json; open: number }): ReactNode {
  if (value === null || value === undefined) return <span className="json-null">null</span>;
  if (typeof value === 'string') return <Text text={value} />;
  if (typeof value !== 'object') return <span className="json-atom">{String(value)}</span>;
  return <Members value={value} open={open} />;
}

function Members({ value, open }: { value: Json[] | Record<string, Json>; open: number }) {
  const [isOpen, setOpen] = useState(open > 0);
  const is_list = Array.isArray(value);
  const members = Object.entries(value);
  const [left, right] = is_list ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return <span className="json-null">{`${left}${right}`}</span>;
  const count = `${members.length} ${is_list ? 'item' : 'field'}${members.length === 1 ? '' : 's'}`;
  return (
    <>
      <button
        type="button"
        className="json-fold"
        aria-expanded={isOpen}
        aria-label={count}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRight />
        {isOpen ? null : <span className="json-null">{count}</span>}
      </button>
      {isOpen ? (
        <div className="json-members">
          <List value={value} open={open} />
        </div>
      ) : null}
    </>
  );
}

function List({ value, open }: { value: Json[] | Record<string, Json>; open: number }) {
  const [shown, setShown] = useState(FIRST);
  const members = Object.entries(value);
  return (
    <>
      {members.slice(0, shown).map(([name, member]) => (
        <div key={name} className="json-member">
          <span className="json-name">
            <SafeText text={name} />
          </span>
          <Node value={member} open={open - 1} />
        </div>
      ))}
      {members.length > shown ? (
        <button type="button" className="json-more" onClick={() => setShown(shown + 1000)}>
          {members.length - shown} more
        </button>
      ) : null}
    </>
  );
}

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= LONG_TEXT);
  return (
    <span className="json-text">
      <SafeText text={whole ? text : text.slice(0, LONG_TEXT)} line={false} />
      {whole ? null : (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          … {text.length - LONG_TEXT} more characters
        </button>
      )}
    </span>
  );
}
