import type { Step } from './assembler.js';
import type { Data } from './build-elf.js';
import { DESCRIPTOR_AT, type Landlock, pathBeneath, rulesetOf } from './landlock.js';
import type { Call } from './system-calls.js';

const AT_FDCWD = -100;
/** O_PATH and O_CLOEXEC. */
const AS_PLACE = 0x28_0000;
const PATH_BENEATH = 1;

/** Applies the rules to the process, which must have set no_new_privs before. Paths that do not exist are skipped. */
export const landlockSteps = (landlock: Landlock, call: Call): { steps: Step[]; data: Data } => {
  const ruleset = rulesetOf(landlock);
  const orNothing = { op: 'branch', when: 'less', left: 'd', right: 0, to: 'unconfined' } as const;
  const data: Record<string, Buffer> = { ruleset };
  const steps: Step[] = [
    call('landlock_create_ruleset', [{ data: 'ruleset' }, ruleset.length, 0], 'c'),
    { op: 'branch', when: 'less', left: 'c', right: 0, to: 'unconfined' },
  ];
  landlock.rules.forEach((rule, index) => {
    const [path, beneath, next] = [`path_${index}`, `beneath_${index}`, `beneath_${index}_done`];
    data[path] = Buffer.from(`${rule.path}\0`);
    data[beneath] = pathBeneath(rule, landlock.abi);
    steps.push(
      call('openat', [AT_FDCWD, { data: path }, AS_PLACE, 0], 'd'),
      { op: 'branch', when: 'less', left: 'd', right: 0, to: next },
      { op: 'set', to: 'e', from: { data: beneath } },
      { op: 'store', from: 'd', base: 'e', offset: DESCRIPTOR_AT },
      call('landlock_add_rule', ['c', PATH_BENEATH, { data: beneath }, 0], 'd'),
      orNothing,
      { op: 'label', name: next },
    );
  });
  steps.push(call('landlock_restrict_self', ['c', 0], 'd'), orNothing);
  return { steps, data };
};
