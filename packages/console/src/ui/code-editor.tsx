import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import './code-editor.css';

type Language = 'json' | 'yaml';
export type Mistake = { line: number; column?: number; message: string; severity: 'error' | 'warning' };
export type EditorProps = {
  label: string;
  language: Language;
  value: string;
  onChange?(value: string): void;
  read_only?: boolean;
  mistakes?: readonly Mistake[];
  onSave?(): void;
};
export type MergeProps = { label: string; language: Language; before: string; after: string };

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--blue)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--text-3)' },
]);

/** Characters that change the text direction are made visible, as everywhere. */
const UNSEEN = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc]/g;

const common = (label: string, language: Language): Extension => [
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  highlightSpecialChars({ addSpecialChars: UNSEEN }),
  bracketMatching(),
  syntaxHighlighting(colours),
  language === 'json' ? json() : yaml(),
  EditorView.lineWrapping,
  // Editable text can have the focus anyway. With a tabindex, a long text also counts as reachable for assistive tools.
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
];

export function Editor({ label, language, value, onChange, read_only = false, mistakes = [], onSave }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ onChange, onSave });
  latest.current = { onChange, onSave };
  const lock = useRef(new Compartment());

  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes later is handed to the editor below
  useEffect(() => {
    if (!parent.current) return;
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          common(label, language),
          history(),
          indentOnInput(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          lintGutter(),
          lock.current.of(locked(read_only)),
          keymap.of([
            {
              key: 'Mod-s',
              run: () => {
                latest.current.onSave?.();
                return true;
              },
            },
            // Escape, then Tab, leaves the editor.
            indentWithTab,
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, language]);

  useEffect(() => {
    const editor = view.current;
    // While the user types, their text takes precedence.
    if (!editor || editor.state.doc.toString() === value || editor.hasFocus) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: lock.current.reconfigure(locked(read_only)) });
  }, [read_only]);
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, mistakes.map(placed(editor.state))));
  }, [mistakes]);

  return <div ref={parent} className="editor" />;
}

const locked = (read_only: boolean): Extension => [EditorState.readOnly.of(read_only)];

const placed =
  (state: EditorState) =>
  ({ line, column = 1, message, severity }: Mistake): Diagnostic => {
    const at = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
    return { from: Math.min(at.from + column - 1, at.to), to: at.to, severity, message };
  };

/** The difference of two texts, line by line, with unchanged parts folded. */
export function Merge({ label, language, before, after }: MergeProps) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          common(label, language),
          locked(true),
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
        ],
      }),
    });
    return () => editor.destroy();
  }, [label, language, before, after]);
  return <div ref={parent} className="editor whole" />;
}
