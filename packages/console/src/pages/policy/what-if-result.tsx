import type { WhatIfAnswer } from '@capstan/contracts';
import { Tag } from '../../ui/badge.js';
import { Id } from '../../ui/id.js';
import { SafeText } from '../../ui/safe-text.js';

const TONES = { allow: 'green', hold: 'amber', deny: 'red' } as const;

export const WhatIfResult = ({
  of: { changed, checked, changes, items, more, unknown_tools },
}: {
  of: WhatIfAnswer;
}) => (
  <div className="stack" role="status">
    <p>
      <strong className="num">{changed.toLocaleString()}</strong> of {checked.toLocaleString()} calls would be decided
      differently.
      {unknown_tools > 0 ? ` ${unknown_tools} are of tools that no longer exist.` : ''}
    </p>
    {Object.keys(changes).length > 0 ? (
      <ul className="row wrap">
        {Object.entries(changes).map(([how, count]) => (
          <li key={how}>
            <Tag tone={how.endsWith('deny') ? 'red' : how.endsWith('allow') ? 'green' : 'amber'}>
              {how}: {count.toLocaleString()}
            </Tag>
          </li>
        ))}
      </ul>
    ) : null}
    <ul className="stack tight">
      {items.slice(0, 12).map(({ invocation_id, tool_id, was, would_be }) => (
        <li key={invocation_id} className="rule">
          <div className="row wrap">
            <Tag tone={TONES[was.effect]}>{was.effect}</Tag>
            <span aria-hidden="true">→</span>
            <Tag tone={TONES[would_be.effect]}>{would_be.effect}</Tag>
            <Id of={invocation_id} />
          </div>
          <SafeText text={tool_id} />
          <span className="muted">
            <SafeText text={would_be.reason} />
          </span>
        </li>
      ))}
    </ul>
    {more + Math.max(0, items.length - 12) > 0 ? (
      <p className="muted">and {(more + Math.max(0, items.length - 12)).toLocaleString()} more</p>
    ) : null}
  </div>
);
