import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useKeys } from '../app/keys.js';
import { inWords } from './badge.js';
import './facets.css';

export const FacetBar = ({ children }: { children: ReactNode }) => (
  <search className="facets" aria-label="Filters">
    {children}
  </search>
);

type SelectProps = {
  label: string;
  value: string | undefined;
  options: readonly string[];
  onChange(value: string | undefined): void;
  /** Labels for values whose names are not clear enough. */
  words?: Readonly<Record<string, string>>;
  /** The count of each value. */
  counts?: Readonly<Record<string, number>> | undefined;
  /** Leaves out the option "any". */
  always?: boolean;
};

/** Filters by one value of a property. The chosen value stays an option even if nothing has it any more. */
export function FacetSelect({ label, value, options, onChange, words = {}, counts, always = false }: SelectProps) {
  const all = value && !options.includes(value) ? [...options, value] : options;
  const name = (option: string) =>
    words[option] ?? (/^[A-Z_]+$|^[a-z]+(_[a-z]+)*$/.test(option) ? inWords(option.toLowerCase()) : option);
  return (
    <label className={`facet ${value && !always ? 'on' : ''}`}>
      <span className="facet-label">{label}</span>
      <select value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
        {always ? null : <option value="">Any</option>}
        {all.map((option) => (
          <option key={option} value={option}>
            {name(option)}
            {counts?.[option] === undefined ? '' : ` (${counts[option].toLocaleString()})`}
          </option>
        ))}
      </select>
    </label>
  );
}

type SearchProps = { value: string; onChange(value: string): void; placeholder: string };
const WAIT_MS = 250;

/** A search field, focused with `/`. Reports the text when typing pauses. */
export function SearchBox({ value, onChange, placeholder }: SearchProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  useKeys({ '/': () => input.current?.focus() });
  return (
    <div className="searchbox">
      <Search />
      <input
        ref={input}
        type="search"
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && input.current?.blur()}
      />
      <kbd className="kbd wide-only">/</kbd>
    </div>
  );
}

type TextFacetProps = {
  label: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  placeholder?: string;
  /** Known values with their counts. */
  known?: Readonly<Record<string, number>> | undefined;
};

/** Filters by a property whose values are not known in advance. */
export function FacetText({ label, value, onChange, placeholder = 'Any', known }: TextFacetProps) {
  const id = useId();
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const take = (wanted: string) => {
    if (wanted !== (value ?? '')) onChange(wanted || undefined);
  };
  return (
    <label className={`facet ${value ? 'on' : ''}`}>
      <span className="facet-label">{label}</span>
      <input
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        list={known ? id : undefined}
        onChange={({ target, nativeEvent }) => {
          setText(target.value);
          // A choice from the list has no key event.
          if (!(nativeEvent instanceof InputEvent)) take(target.value);
        }}
        onBlur={() => take(text)}
        onKeyDown={(event) => event.key === 'Enter' && take(text)}
      />
      {known ? (
        <datalist id={id}>
          {Object.entries(known).map(([name, count]) => (
            <option key={name} value={name}>
              {count.toLocaleString()}
            </option>
          ))}
        </datalist>
      ) : null}
    </label>
  );
}
