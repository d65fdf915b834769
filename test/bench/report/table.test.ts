import { expect, test } from 'vitest';
import { renderTable } from './table.js';

const columns = [
  { title: '', alignment: 'left' },
  { title: 'raw', alignment: 'right' },
] as const;

test('names line up on the left and figures on the right', () => {
  const rows = [
    ['50 in flight', '8,900/s'],
    ['bulk', '12,000/s'],
  ];
  expect(renderTable(columns, rows).split('\n')).toEqual([
    '                   raw',
    '──────────────────────',
    '50 in flight   8,900/s',
    'bulk          12,000/s',
  ]);
});

test('a row that ends early leaves its last cells blank', () => {
  expect(renderTable(columns, [['waiting'], ['bulk', '1/s']])).toContain('\nwaiting\n');
});

test('a column without a title and without a figure takes no room', () => {
  const wider = [columns[0], { title: '', alignment: 'right' }, columns[1]] as const;
  expect(renderTable(wider, [['bulk', '', '1/s']])).toBe(renderTable(columns, [['bulk', '1/s']]));
});
