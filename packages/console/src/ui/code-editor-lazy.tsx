import { lazy, Suspense } from 'react';
import type { EditorProps, MergeProps } from './code-editor.js';
import { Loading } from './empty.js';

const Editor = lazy(async () => ({ default: (await import('./code-editor.js')).Editor }));
const Merge = lazy(async () => ({ default: (await import('./code-editor.js')).Merge }));

/** CodeMirror, loaded when the first editor is shown. */
export const CodeEditor = (props: EditorProps) => (
  <Suspense fallback={<Loading lines={6} />}>
    <Editor {...props} />
  </Suspense>
);

/** Two texts side by side, or one above the other on a narrow page. */
export const MergeView = (props: MergeProps) => (
  <Suspense fallback={<Loading lines={6} />}>
    <Merge {...props} />
  </Suspense>
);
