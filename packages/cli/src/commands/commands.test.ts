import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { PATIENTLY, withGateway } from '../testing/with-gateway.js';

const { capstan, folder, gateway, invoke } = withGateway();

describe('list', () => {
  it('sends its options as filters, and reads as many pages as needed', async () => {
    await capstan([
      'list',
      '--status',
      'failed,timed_out',
      '--tool',
      't',
      '--label',
      'a=1',
      '--since',
      '30s',
      '--run',
      'run_r',
    ]);
    expect(gateway().seen[0]?.path).toBe(
      '/v1/invocations?status=failed&status=timed_out&tool_id=t&run_id=run_r&label=a%3A1&since=2026-01-01T12%3A00%3A00.000Z&limit=20',
    );
    await capstan(['submit', '-'], { stdin: '{"tool_id":"fake:text"}\n'.repeat(1_200) });
    const { stdout } = await capstan(['list', '-n', '1100', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ next_cursor: '1100' });
    expect(JSON.parse(stdout).items).toHaveLength(1_100);
  });

  it('reports on stderr that nothing matches', async () => {
    expect(await capstan(['list'])).toEqual({ code: 0, stdout: '', stderr: 'No invocations match.\n' });
  });
});

describe('--watch', () => {
  it('of workers fits a narrow terminal', async () => {
    const { stdout } = await capstan(['workers'], { tty: true, columns: 50, env: { NO_COLOR: '1' } });
    expect(stdout).toContain('wrk_2');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  it.each(['list', 'runs', 'queues', 'workers'])('of %s refreshes the list until Ctrl-C', async (command) => {
    await invoke('fake:text');
    const before = gateway().seen.length;
    const controller = new AbortController();
    const pending = capstan([command, '--watch'], { tty: true, columns: 80, rows: 12, interrupt: controller.signal });
    await expect.poll(() => gateway().seen.length - before, PATIENTLY).toBeGreaterThan(command === 'list' ? 1 : 0);
    controller.abort();
    const { code, stdout } = await pending;
    expect(code).toBe(0);
    expect(stdout).toMatch(/INVOCATION|RUN/);
  });

  it('is refused in a pipe, which cannot be redrawn', async () => {
    for (const command of ['list', 'holds'])
      expect(await capstan([command, '--watch'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('terminal'),
      });
  });
});

describe('show, logs, cancel', () => {
  it('shows an invocation and a run', async () => {
    await invoke('fake:fail');
    const shown = (await capstan(['show', 'inv_00000001'])).stdout;
    expect(shown).toContain('✗ failed  fake:fail');
    expect(shown).toContain('created      2026-01-01T12:00:00.000Z (30s ago)');
    expect(shown).toContain('the tool said no  (code 2003)');
    expect((await capstan(['show', 'run_00000001'])).stdout).toContain('inv_00000001');
  });

  it('answers list-runs and show-run as it does runs and show', async () => {
    await invoke('fake:text');
    for (const [alias, name, ...args] of [
      ['list-runs', 'runs', '--json'],
      ['show-run', 'show', 'run_00000001'],
    ] as const) {
      const answer = await capstan([alias, ...args]);
      expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('run_00000001') });
      expect(answer).toEqual(await capstan([name, ...args]));
    }
  });

  it('prints the logs so far, or follows them to the end', async () => {
    await invoke('fake:slow', '{"ms":20}');
    expect((await capstan(['logs', 'inv_00000001'])).stdout).toBe('half-way\n');
    await invoke('fake:never', '--no-wait');
    const follow = capstan(['logs', '-f', 'inv_00000002']);
    await expect.poll(() => gateway().rows.get('inv_00000002')?.followers.size, PATIENTLY).toBe(1);
    gateway().finish('inv_00000002');
    expect((await follow).stderr).toBe('○ queued\n✓ succeeded\n');
  });

  it('cancels what it can and lists the rest', async () => {
    await invoke('fake:never', '--no-wait');
    const { code, stdout, stderr } = await capstan(['cancel', 'inv_nope', 'inv_00000001']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '– canceled  inv_00000001\n' });
    expect(stderr).toContain('there is no invocation inv_nope');
  });

  it('cancels a run as a whole, by its id or as the only filter', async () => {
    await invoke('fake:never', '--no-wait');
    for (const named of [['run_00000001'], ['--run', 'run_00000001']]) {
      const { code, stdout } = await capstan(['cancel', ...named]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '▸ running  run_00000001  is being canceled\n' });
      expect(gateway().seen.at(-1)).toMatchObject({ method: 'POST', path: '/v1/runs/run_00000001/cancel' });
    }
    await capstan(['cancel', '--run', 'run_00000001', '--status', 'queued', '--yes']);
    expect(gateway().seen.at(-1)?.path).toBe('/v1/invocations/cancel');
  });

  it('lists plans and bulks, and with --all or --kind other runs', async () => {
    for (const args of [[], ['--all'], ['--kind', 'lone']]) await capstan(['runs', ...args]);
    expect(gateway().seen.map(({ path }) => path)).toEqual([
      '/v1/runs?limit=20&kind=plan&kind=bulk',
      '/v1/runs?limit=20',
      '/v1/runs?limit=20&kind=lone',
    ]);
    expect((await capstan(['runs'])).stderr).toContain('--all');
    expect(await capstan(['runs', '--all', '--kind', 'plan'])).toMatchObject({ code: 2 });
  });

  it('pauses and resumes runs', async () => {
    await invoke('fake:never', '--no-wait');
    for (const action of ['pause', 'resume']) {
      expect(await capstan(['runs', action, 'run_00000001'])).toMatchObject({ code: 0 });
      expect(gateway().seen.at(-1)).toMatchObject({ method: 'POST', path: `/v1/runs/run_00000001/${action}` });
    }
  });

  it('cancels by filter', async () => {
    expect((await capstan(['cancel', '--status', 'queued', '--runner', 'exec', '-y'])).stdout).toBe(
      '✓ 1,234 invocations canceled\n',
    );
    await capstan(['cancel', '--all', '--yes']);
    expect(gateway().seen.map(({ body }) => JSON.parse(body))).toEqual([
      { status: ['queued'], runner: 'exec' },
      { status: ['held', 'deferred', 'queued', 'running'] },
    ]);
  });
});

describe('an action on many invocations', () => {
  const typing = (text: string) => ({ tty: true, stdin: Object.assign(Readable.from([text]), { isTTY: true }) });
  const done = () => gateway().seen.filter(({ path }) => /(cancel|redrive)$/.test(path));

  it('names the number of matches and asks first', async () => {
    for (const tool of ['fake:never', 'fake:never', 'fake:text']) await invoke(tool, '--no-wait');
    const { code, stderr } = await capstan(['cancel', '--all', '--no-color'], typing('y\n'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '? cancel 2 invocations? [y/N] ' });
    expect(done()).toHaveLength(1);
  });

  it.each(['n\n', '\n', '', 'maybe\n'])('is not done if the answer is %j', async (answer) => {
    await invoke('fake:fail');
    const { code, stdout, stderr } = await capstan(['redrive', '--status', 'failed'], typing(answer));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Nothing was queued again.');
    expect(done()).toEqual([]);
  });

  it('does not ask if nothing matches', async () => {
    const answer = await capstan(['cancel', '--all'], typing(''));
    expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('0 invocations canceled'), stderr: '' });
    expect(done()).toEqual([]);
  });

  it.each([
    ['cancel', '--all'],
    ['cancel', '--tool', 'x', '--json'],
    ['redrive', '--all'],
  ])('%s %s needs --yes without a terminal', async (...args) => {
    const { code, stdout, stderr } = await capstan(args, { stdin: 'y\n' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--yes');
    expect(done()).toEqual([]);
  });
});

describe('other commands', () => {
  it('pauses a queue', async () => {
    expect((await capstan(['queues', 'pause', 'exec'])).stdout).toBe('⏸ paused  exec\n');
    expect(gateway().seen[0]).toMatchObject({ method: 'POST', path: '/v1/queues/exec/pause' });
  });

  it('prints only the new key on stdout', async () => {
    expect((await capstan(['keys', 'create', '--actor', 'ci', '--role', 'submit,audit'])).stdout).toBe('cap_secret\n');
    expect(JSON.parse(gateway().seen[0]?.body ?? '')).toEqual({
      tenant: 'default',
      actor: 'ci',
      roles: ['submit', 'audit'],
    });
  });

  it('puts a policy as YAML or JSON', async () => {
    writeFileSync(join(folder(), 'p.yaml'), 'boundary: deny_by_default\n');
    await capstan(['policy', 'put', 'p.yaml', '--name', 'team']);
    await capstan(['policy', 'put', '-'], { stdin: '{"boundary":"deny_by_default"}' });
    expect(gateway().seen.map(({ path, headers }) => `${path} ${headers['content-type']}`)).toEqual([
      '/v1/policies/team application/yaml',
      '/v1/policies/default application/json',
    ]);
  });

  it('doctor reports what is installed and what is missing', async () => {
    const { code, stdout } = await capstan(['doctor'], {
      env: { PATH: '', DATABASE_URL: 'postgres://me:secret@db:5432/x' },
    });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ Postgres     DATABASE_URL (db:5432)');
    expect(stdout).not.toContain('secret');
    expect(stdout).toContain('apt install bubblewrap');
    expect(stdout).toContain('is ready');
  });

  it('doctor fails if the gateway that it was told to look at does not answer', async () => {
    const { code, stdout } = await capstan(['doctor', '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ gateway      nothing answers at http://127.0.0.1:1');
    expect(stdout).toContain('The gateway cannot be used: nothing answers at http://127.0.0.1:1.');
  });
});
