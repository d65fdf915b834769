import { Link } from '@tanstack/react-router';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { SafeText } from './safe-text.js';
import { Tip } from './tip.js';

const SHOWN = 6;

/** `inv_V1StGX…`: the kind and the first characters; hashes lose their algorithm. A step keeps its place: `inv_V1StGX…-3`. */
export const shortId = (id: string): string => {
  const [, prefix = '', rest = '', place = ''] =
    /^(?:sha256:)?([a-z]+_)?(.*?)((?:-\d+)*)$/.exec(id) ?? ([] as string[]);
  return rest.length <= SHOWN + 4 ? id : `${prefix}${rest.slice(0, SHOWN)}…${prefix === 'inv_' ? place : ''}`;
};

const PAGES: Record<string, string> = { inv: '/invocations/$id', run: '/runs/$id', hld: '/approvals/$id' };

/** An id, short, with its whole on hover, a way to its page, and a button that copies it. */
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
