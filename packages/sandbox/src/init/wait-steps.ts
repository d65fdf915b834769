import type { Step } from './assembler.js';
import { type Call, SIGKILL, SIGQUIT, SIGTERM } from './system-calls.js';

const WNOHANG = 1;
const ANY = -1;
const SPACE = 32;
const ZERO = 48;
/** How much of the list of children is read at a time. */
export const LISTED_BYTES = 4096;

/** Waits for the tool (b: its pid), kills everything in the namespace and waits until it is gone. c: the tool's status. */
export const waitInNamespace = (call: Call): Step[] => [
  { op: 'label', name: 'wait' },
  call('wait4', [ANY, { data: 'status' }, 0, 0], 'd'),
  { op: 'branch', when: 'not_equal', left: 'd', right: 'b', to: 'wait' },
  ...loadStatus(),
  call('kill', [ANY, SIGKILL]),
  { op: 'label', name: 'reap' },
  call('wait4', [ANY, 0, 0, 0], 'd'),
  { op: 'branch', when: 'at_least', left: 'd', right: 0, to: 'reap' },
];

/** The same for descendants, while also handling signals. The status counts as killed until the tool exits by itself. */
export const waitForDescendants = (call: Call): Step[] => [
  { op: 'set', to: 'c', from: SIGKILL },
  { op: 'label', name: 'listen' },
  call('rt_sigtimedwait', [{ data: 'awaited' }, 0, 0, 8], 'd'),
  { op: 'branch', when: 'equal', left: 'd', right: SIGQUIT, to: 'sweep' },
  { op: 'branch', when: 'equal', left: 'd', right: SIGTERM, to: 'pass_on' },
  { op: 'label', name: 'who' },
  call('wait4', [ANY, { data: 'status' }, WNOHANG, 0], 'd'),
  { op: 'branch', when: 'less', left: 'd', right: 1, to: 'listen' },
  { op: 'branch', when: 'not_equal', left: 'd', right: 'b', to: 'who' },
  ...loadStatus(),
  { op: 'jump', to: 'sweep' },
  { op: 'label', name: 'pass_on' },
  { op: 'set', to: 'd', from: 'b' },
  { op: 'negate', to: 'd' },
  call('kill', ['d', SIGTERM]),
  { op: 'jump', to: 'listen' },
  ...sweep(call),
];

/** Kills its children and reaps one, until none is left: when a child dies, its own children become children of `init`. */
const sweep = (call: Call): Step[] => [
  { op: 'label', name: 'sweep' },
  { op: 'set', to: 'd', from: { data: 'list' } },
  { op: 'load', to: 'd', base: 'd', offset: 0, bytes: 4 },
  call('pread64', ['d', { data: 'listed' }, LISTED_BYTES, 0], 'e'),
  { op: 'branch', when: 'less', left: 'e', right: 0, to: 'without_list' },
  // f: the next character; e: the end of the text; d: the number parsed so far.
  { op: 'set', to: 'f', from: { data: 'listed' } },
  { op: 'add', to: 'e', value: 'f' },
  { op: 'set', to: 'd', from: 0 },
  { op: 'label', name: 'character' },
  { op: 'branch', when: 'at_least', left: 'f', right: 'e', to: 'reap' },
  { op: 'load', to: 'a', base: 'f', offset: 0, bytes: 1 },
  { op: 'add', to: 'f', value: 1 },
  { op: 'branch', when: 'equal', left: 'a', right: SPACE, to: 'kill' },
  { op: 'add', to: 'a', value: -ZERO },
  { op: 'times_ten', to: 'd' },
  { op: 'add', to: 'd', value: 'a' },
  { op: 'jump', to: 'character' },
  { op: 'label', name: 'kill' },
  call('kill', ['d', SIGKILL]),
  { op: 'set', to: 'd', from: 0 },
  { op: 'jump', to: 'character' },
  { op: 'label', name: 'without_list' },
  { op: 'set', to: 'd', from: 'b' },
  { op: 'negate', to: 'd' },
  call('kill', ['d', SIGKILL]),
  { op: 'label', name: 'reap' },
  call('wait4', [ANY, { data: 'status' }, 0, 0], 'd'),
  { op: 'branch', when: 'less', left: 'd', right: 0, to: 'done' },
  { op: 'jump', to: 'sweep' },
  { op: 'label', name: 'done' },
];

const loadStatus = (): Step[] => [
  { op: 'set', to: 'c', from: { data: 'status' } },
  { op: 'load', to: 'c', base: 'c', offset: 0, bytes: 4 },
];

/** Exits as a shell would: with the exit code, or with 128 plus the number of the signal. */
export const endWithStatus = (call: Call): Step[] => [
  { op: 'set', to: 'd', from: 'c' },
  { op: 'keep_low', to: 'd', bits: 7 },
  { op: 'branch', when: 'not_equal', left: 'd', right: 0, to: 'signaled' },
  { op: 'shift_right', to: 'c', bits: 8 },
  { op: 'keep_low', to: 'c', bits: 8 },
  call('exit_group', ['c']),
  { op: 'label', name: 'signaled' },
  { op: 'add', to: 'd', value: 128 },
  call('exit_group', ['d']),
];
