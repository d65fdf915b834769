import { Failure } from '@capstan/contracts';
import type { Mount } from '@capstan/sandbox';
import { openEgressSocket } from '../../egress-socket.js';
import type { ExecRun } from '../exec-run.js';
import { findProgram } from './find-program.js';

/** The network access of one run: the egress guard in the worker, and the bridge to it in the sandbox. */
export type NetworkAccess = {
  mounts: Mount[];
  /** Goes in front of the tool's command line. */
  command: string[];
  domains(): string[];
  close(): Promise<void>;
};

const MAX_DOMAINS = 100;

/**
 * The sandbox has no network except its own loopback. A bridge listens there and forwards every connection through a Unix socket to
 * the proxy in the worker, which connects to what the policy allows. The bridge is the tool's parent and exits with it. It ignores
 * SIGTERM, which is meant for the tool.
 */
export const BRIDGE = `
const net = require('node:net');
const { spawn } = require('node:child_process');
const [, socket, file, ...args] = process.argv;
const server = net.createServer((inside) => {
  const outside = net.connect(socket);
  inside.on('error', () => outside.destroy());
  outside.on('error', () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
server.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + server.address().port;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const env = { ...process.env, ...Object.fromEntries(names.map((name) => [name, proxy])) };
  const tool = spawn(file, args, { stdio: 'inherit', env });
  tool.on('error', (error) => { console.error(error.message); process.exit(127); });
  tool.on('exit', (code, signal) => process.exit(signal ? 128 + require('node:os').constants.signals[signal] : code));
});
`;

/** Null if there is no network access: the policy names no domain, or the tool does not ask for it. */
export const grantNetwork = async (run: ExecRun): Promise<NetworkAccess | null> => {
  const { limits } = run.call;
  if (!run.program.network || !Array.isArray(limits.network) || limits.network.length === 0) return null;
  if (!run.sandbox.maps_paths)
    throw new Failure('SANDBOX_UNAVAILABLE', {
      detail: 'network access by domain needs a sandbox; without one, the tool could reach the whole network',
    });
  const node = findProgram('node', run);
  if (typeof node === 'string') return null;
  const domains = new Set<string>();
  const { mount, socket, close } = await openEgressSocket(run.sandbox.identity, {
    egress: run.host.egress(),
    rules: limits,
    ...(limits.max_response_bytes === undefined ? {} : { max_bytes: limits.max_response_bytes }),
    onDomain: (hostname) => {
      if (domains.size < MAX_DOMAINS) domains.add(hostname);
    },
  });
  return {
    mounts: [mount, ...(node.mount ? [node.mount] : [])],
    command: [node.file, '-e', BRIDGE, socket],
    domains: () => [...domains],
    close,
  };
};
