import { Link } from '@tanstack/react-router';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { SafeText } from './safe-text.js';
import { Tip } from './tip.js';

const SHOWN = 6;
const ENDS = 4;

/**
 * `inv_V1St…k3_a`: the kind, and both ends, because ids of the same minute begin alike. A step keeps its position: `inv_V1St…k3_a-3`.
 * Of a hash, the first characters are shown.
 */
const shortId = (id: string): string => {
  const [, prefix = '', rest = '', place = ''] =
    /^(?:sha256:)?([a-z]+_)?(.*?)((?:-\d+)*)$/.exec(id) ?? ([] as string[]);
  if (rest.length <= SHOWN + ENDS) return id;
  if (prefix === '') return `${rest.slice(0, SHOWN)}…`;
  return `${prefix}${rest.slice(0, ENDS)}…${rest.slice(-ENDS)}${place}`;
};

const PAGES: Record<string, string> = { inv: '/invocations/$id', run: '/runs/$id', hld: '/approvals/$id' };

/** A shortened id with the full id on hover, a link to its page, and a copy button. */
export function Id({ of, link = true, whole = false }: { of: string; link?: boolean; whole?: boolean }) {
  const page = PAGES[/^([a-z]+)_/.exec(of)?.[1] ?? ''];
  const text = <SafeText text={whole ? of : shortId(of)} />;
  return (
    <span className="id">
      <Tip text={<span className="mono">{of}</span>}>
        {link && page ? (
          <Link to={page} params={{ id: of }}>
            {text}
          </Link>
        ) : (
          <span>{text}</span>
        )}
      </Tip>
      <CopyButton text={of} label={`Copy ${shortId(of)}`} />
    </span>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1200);
  };
  return (
    <button
      type="button"
      className="copy"
      aria-label={copied ? 'Copied' : label}
      onClick={(event) => {
        event.stopPropagation();
        void copy();
      }}
    >
      {copied ? <Check /> : <Copy />}
    </button>
  );
}
