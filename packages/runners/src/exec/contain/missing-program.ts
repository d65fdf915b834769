import type { ToolFailure } from '../../runner.js';
import { refused } from '../refused.js';
import type { NotFound } from './find-program.js';

/** The failure for a program that does not exist. Nothing was started. */
export const missingProgram = (file: string, why: NotFound): ToolFailure => {
  if (why === 'not_executable')
    return refused('TOOL_ERROR', `${file} may not be executed by the worker's user (EACCES); check its permissions`);
  return refused(
    'EXECUTABLE_NOT_FOUND',
    file.includes('/')
      ? `${file} does not exist where this tool runs: its work directory, and the system's programs`
      : `${file} was not found on the worker; install it there, on Debian: apt-get install ${packageOf(file)}`,
  );
};

/** Debian packages that are not named after their command. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['ag', 'silversearcher-ag'],
  ['aws', 'awscli'],
  ['cc', 'build-essential'],
  ['convert', 'imagemagick'],
  ['dig', 'dnsutils'],
  ['docker', 'docker.io'],
  ['fd', 'fd-find'],
  ['g++', 'build-essential'],
  ['gcc', 'build-essential'],
  ['go', 'golang-go'],
  ['ip', 'iproute2'],
  ['java', 'default-jre'],
  ['make', 'build-essential'],
  ['nc', 'netcat-openbsd'],
  ['node', 'nodejs'],
  ['nslookup', 'dnsutils'],
  ['pdftotext', 'poppler-utils'],
  ['ping', 'iputils-ping'],
  ['pip', 'python3-pip'],
  ['ps', 'procps'],
  ['psql', 'postgresql-client'],
  ['python', 'python-is-python3'],
  ['redis-cli', 'redis-tools'],
  ['rg', 'ripgrep'],
  ['ssh', 'openssh-client'],
  ['xz', 'xz-utils'],
]);

export const packageOf = (command: string): string => PACKAGES.get(command) ?? command;
