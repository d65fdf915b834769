import { Failure, type Limits, type Risk } from '@capstan/contracts';
import type { Sandbox } from './sandbox.js';

/** What policy does not say: from MED risk up a tool is not run without walls around it. */
export const isSandboxRequired = ({ sandbox }: Pick<Limits, 'sandbox'>, risk: Risk): boolean =>
  (sandbox ?? (risk === 'LOW' ? 'preferred' : 'required')) === 'required';

/** Throws a Failure that says what to install. */
export const requireSandbox = (sandbox: Sandbox | null, required: boolean): Sandbox => {
  if (sandbox !== null && (sandbox.level !== 'process' || !required)) return sandbox;
  throw new Failure('SANDBOX_UNAVAILABLE', {
    detail:
      'this tool must run in a sandbox, and the worker has none that works: install bubblewrap ' +
      '(apt-get install bubblewrap, dnf install bubblewrap), or util-linux with user namespaces enabled in the kernel ' +
      '(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a container: allow them)',
  });
};
