import type { Json } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { SafeText } from './safe-text.js';
import './diff.css';

type Change = { path: string; before: Json | undefined; after: Json | undefined };

const same = (one: Json | undefined, other: Json | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The paths of the members that differ. Lists are compared as a whole, because guessing what moved is not worth it. */
export function changesOf(before: Json | undefined, after: Json | undefined, path = ''): Change[] {
  if (same(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path: path || '(all)', before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => changesOf(before[name], after[name], path === '' ? name : `${path}.${name}`));
}

/** Shows the changes of a value, member by member. */
export function Diff({ before, after }: { before: Json; after: Json }) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p className="muted">No changes.</p>;
  return (
    <dl className="diff">
      {changes.map(({ path, before: was, after: is }) => (
        <div key={path} className="diff-change">
          <dt>
            <SafeText text={path} />
          </dt>
          <dd>
            {was === undefined ? null : (
              <del>
                <Value of={was} />
              </del>
            )}
            {is === undefined ? null : (
              <ins>
                <Value of={is} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const Value = ({ of }: { of: Json }) =>
  of === '' ? (
    <span className="muted">(empty)</span>
  ) : (
    <SafeText text={typeof of === 'string' ? of : JSON.stringify(of, null, 2)} line={false} />
  );
