import { expect, test } from 'vitest';
import { noFindings } from '../findings.js';
import { parseOptions } from '../options.js';
import { renderReport } from './report.js';

const options = parseOptions(['--quick']);

test('a part that failed says so in its row and below the table, and the rest is there', () => {
  const findings = noFindings();
  const sample = { count: 1000, elapsed_ms: 1000 };
  findings.measurements.push({ round: 1, subject: 'bullmq', shape: 'bulk', sample });
  findings.measurements.push({ round: 1, subject: 'redis', shape: 'bulk', sample });
  findings.failures.push({ part: 'bulk', subject: 'postgres', shape: 'bulk', message: 'the run is not over' });
  const report = renderReport(findings, options);
  expect(report).toMatch(/^bulk +1,000\/s +1,000\/s +1\.00 +≥ 1 ✓ +failed$/m);
  expect(report).toContain('  bulk, postgres: the run is not over');
});

test('a bench that is cut short before its first measurement still says why', () => {
  const findings = noFindings();
  findings.failures.push({ part: 'the bench was cut short', message: 'ended by SIGINT' });
  expect(renderReport(findings, options)).toBe('Failed:\n  the bench was cut short: ended by SIGINT');
});

test('costs are the median of the rounds, by process', () => {
  const findings = noFindings();
  for (const [round, gateway] of [10, 30, 20].entries())
    findings.measurements.push({
      ...{ round, subject: 'redis', shape: 'in_flight_50', sample: { count: 1, elapsed_ms: 1 } },
      costs: { wal_bytes: 1_900, cpu_us: { gateway, worker: 5 } },
    });
  const report = renderReport(findings, options);
  expect(report).toMatch(/^WAL a call, 50 in flight +1,900 bytes +≤ 2,000 ✓/m);
  expect(report).toMatch(/^CPU a call, 50 in flight: gateway +20 µs/m);
  expect(report).toMatch(/^CPU a call, 50 in flight: in all +25 µs/m);
});
