import { Failure, type Limits, type Risk } from '@capstan/contracts';
import { factOf, type Sandbox } from './sandbox.js';

/** If the policy does not say, tools of MED risk and above need a sandbox. */
const isSandboxRequired = ({ sandbox }: Pick<Limits, 'sandbox'>, risk: Risk): boolean =>
  (sandbox ?? (risk === 'LOW' ? 'preferred' : 'required')) === 'required';

/** What a call requires of its sandbox. `walls`: a level above `process`. */
export type SandboxNeeds = { walls: boolean; seccomp: boolean };

export const sandboxNeeds = (limits: Pick<Limits, 'sandbox' | 'seccomp'>, risk: Risk): SandboxNeeds => ({
  walls: isSandboxRequired(limits, risk),
  seccomp: limits.seccomp === 'required',
});

/** Throws a Failure that says what to install. */
export const requireSandbox = (sandbox: Sandbox | null, { walls, seccomp }: SandboxNeeds): Sandbox => {
  if (sandbox !== null && (sandbox.level !== 'process' || !walls)) return requireFilter(sandbox, seccomp);
  throw new Failure('SANDBOX_UNAVAILABLE', {
    detail:
      'this tool must run in a sandbox, and the worker has none that works: install bubblewrap ' +
      '(apt-get install bubblewrap, dnf install bubblewrap), or util-linux with user namespaces enabled in the kernel ' +
      '(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a container: allow them)',
  });
};

const requireFilter = (sandbox: Sandbox, required: boolean): Sandbox => {
  if (!required || sandbox.features.includes('seccomp')) return sandbox;
  throw new Failure('SANDBOX_UNAVAILABLE', {
    detail:
      `the policy requires seccomp, and the worker has none that works (it has ${factOf(sandbox)}): it needs Linux 5.9 or newer with ` +
      'seccomp filters, x86-64 or arm64, and a work directory (CAPSTAN_WORK_DIR) whose file system is not mounted noexec',
  });
};
