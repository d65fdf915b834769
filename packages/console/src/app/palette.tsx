import type { Page, Tool } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CornerDownLeft, Hash, Search, Wrench } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { get } from '../api/request.js';
import { SafeText } from '../ui/safe-text.js';
import { PAGES } from './pages.js';
import './palette.css';

type Choice = { key: string; icon: ReactNode; label: ReactNode; kind: string; go(): void };

const ID_PAGES = { inv: '/invocations/$id', run: '/runs/$id', hld: '/approvals/$id' } as const;
const MAX_TOOLS = 6;

/** Goes to any page, tool or id. */
export function Palette({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const choices = useChoices(text.trim(), onClose);
  const chosen = Math.min(at, choices.length - 1);

  useEffect(() => {
    const opened = dialog.current;
    if (opened && !opened.open) opened.showModal();
    return () => opened?.close();
  }, []);
  useEffect(() => {
    document.getElementById(`choice-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, choices.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') choices[chosen]?.go();
    else return;
    event.preventDefault();
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; the keyboard has Escape
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search or jump to"
      onCancel={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette-input">
        <Search />
        <input
          role="combobox"
          aria-label="Page, tool or id"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant={choices.length > 0 ? `choice-${chosen}` : undefined}
          placeholder="Page, tool, or an id"
          value={text}
          autoComplete="off"
          spellCheck={false}
          onKeyDown={press}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
        />
        <kbd className="kbd">Esc</kbd>
      </div>
      <div id="choices" role="listbox" aria-label="Results" className="palette-list">
        {choices.map(({ key, icon, label, kind, go }, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
          <div
            key={key}
            id={`choice-${place}`}
            role="option"
            aria-selected={place === chosen}
            className="palette-choice"
            onClick={go}
            onMouseMove={() => setAt(place)}
          >
            {icon}
            <span className="grow truncate">{label}</span>
            <span className="muted">{kind}</span>
            {place === chosen ? <CornerDownLeft className="enter" /> : null}
          </div>
        ))}
      </div>
      {choices.length === 0 ? <p className="palette-none">No matches.</p> : null}
    </dialog>
  );
}

function useChoices(text: string, onClose: () => void): Choice[] {
  const navigate = useNavigate();
  const { data: tools } = useQuery({
    queryKey: ['tools', 'palette', text],
    queryFn: ({ signal }) => get<Page<Tool>>('/v1/tools', { q: text, limit: MAX_TOOLS, enabled: 'any' }, signal),
    enabled: text.length >= 2,
  });
  const go = (act: () => Promise<void>) => () => {
    onClose();
    void act();
  };
  const [, prefix] = /^(inv|run|hld)_[\w-]+$/.exec(text) ?? [];
  const target = prefix ? ID_PAGES[prefix as keyof typeof ID_PAGES] : undefined;
  const words = text.toLowerCase();
  return [
    ...(target
      ? [
          {
            key: text,
            icon: <Hash />,
            label: <SafeText text={text} />,
            kind: 'Open',
            go: go(() => navigate({ to: target, params: { id: text } })),
          },
        ]
      : []),
    ...PAGES.filter(({ label }) => label.toLowerCase().includes(words)).map(({ to, label, icon: Icon }) => ({
      key: to,
      icon: <Icon />,
      label,
      kind: 'Page',
      go: go(() => navigate({ to })),
    })),
    ...(text.length >= 2 ? (tools?.items ?? []) : []).map(({ tool_id }) => ({
      key: tool_id,
      icon: <Wrench />,
      label: <SafeText text={tool_id} />,
      kind: 'Tool',
      go: go(() => navigate({ to: '/tools/$id', params: { id: tool_id } })),
    })),
    ...(text.length >= 2
      ? [
          {
            key: 'search',
            icon: <Search />,
            label: (
              <>
                Invocations with “<SafeText text={text} />”
              </>
            ),
            kind: 'Search',
            go: go(() => navigate({ to: '/invocations', search: { q: text } })),
          },
        ]
      : []),
  ];
}
