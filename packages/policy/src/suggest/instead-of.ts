import { isShellName } from '@capstan/argv';
import type { Descriptor, JsonObject } from '@capstan/contracts';
import { isMetadataAddress } from '@capstan/egress';
import { methodOf } from '../constraint/read-inputs.js';
import { destroyerOf, hostsIn, pathsOf, programsOf } from './snippet.js';

const WORKSPACE_TOOLS = new Set(['fs.read', 'fs.write']);

const RAISING: ReadonlySet<string> = new Set(['sudo', 'su', 'doas', 'pkexec']);

const leavesWorkspace = (path: string): boolean => /^[/~]/.test(path) || path.split(/[/\\]/).includes('..');

/**
 * Suggests an alternative to a call that no suggestion should allow, because a rule for it would give away more than this call. Null for all other
 * calls.
 */
export function insteadOf(descriptor: Descriptor, inputs: JsonObject): string | null {
  const { tool_id } = descriptor;
  if (WORKSPACE_TOOLS.has(tool_id) && pathsOf(descriptor, inputs).some(leavesWorkspace))
    return 'Name the file by its path inside the workspace, such as docs/a.txt: no policy opens files outside of it.';
  const program = destroyerOf(descriptor, inputs);
  if (program !== null)
    return `This command destroys things, so no permission for ${program} is suggested. To delete a file of the session, call cap:session_file_system:delete_file. For anything else write an extension with one action for exactly this command, and a rule that holds it for a person.`;
  const [started = ''] = tool_id === 'shell.run' ? programsOf(descriptor, inputs) : [];
  if (isShellName(started))
    return `Call the program itself with its arguments instead of ${started}, such as {"cmd": ["ls", "docs"]}: a shell can run anything, so it needs limits: [{match, shell: true}] in the policies of the tenant and of the installation (_installation).`;
  if (RAISING.has(started))
    return `Call the program itself with its arguments instead of ${started}: tools get no more rights than their worker gives them.`;
  if (tool_id === 'api.call' && methodOf(descriptor, inputs) === 'DELETE')
    return 'DELETE would be allowed for every address that api.call may reach, so it is not suggested. Add a tool for this one request, from the OpenAPI document of the service or as an action of an extension, and a rule that holds it for a person.';
  const internal = hostsIn(descriptor, inputs).find((host) => isMetadataAddress(host) !== null);
  if (internal !== undefined)
    return `No policy opens ${internal}, where clouds hand out the credentials of the machine. Give the tool a secret of its own instead: capstan secret put.`;
  return null;
}
