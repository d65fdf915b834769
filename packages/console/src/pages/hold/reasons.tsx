import type { Hold } from '@capstan/contracts';
import { effectsInWords, RISK_IN_WORDS, sideEffectInWords } from '../../domain/effects.js';
import { Tag } from '../../ui/badge.js';
import { Facts, Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';

/** All rules that hold the call, with their reasons. */
export function ReasonsPanel({ hold }: { hold: Hold }) {
  const matched = hold.rules.filter((rule) => rule.matched);
  return (
    <Panel title="Why it is held">
      <div className="stack">
        <p>
          <SafeText text={hold.reason} />
        </p>
        {hold.returned_because ? (
          <div className="note tone-amber">
            <span>
              Held again: <SafeText text={hold.returned_because} />
            </span>
          </div>
        ) : null}
        <div>
          {matched.map(({ id, why, of }) => (
            <div key={`${of ?? ''} ${id}`} className="rule">
              <div className="row">
                <code>
                  <SafeText text={id} />
                </code>
                {id === hold.rule_matched ? <Tag tone="amber">decides</Tag> : null}
                {of === 'installation' ? <Tag>installation</Tag> : null}
              </div>
              <span className="muted">
                <SafeText text={why} />
              </span>
            </div>
          ))}
        </div>
      </div>
    </Panel>
  );
}

/** The effects of the call in words. */
export function EffectsPanel({ hold }: { hold: Hold }) {
  const { effects, side_effects, risk, labels, session_id } = hold;
  return (
    <Panel title="What it would do">
      <div className="stack">
        {risk ? <p>{RISK_IN_WORDS[risk]}</p> : null}
        {effects ? (
          <ul className="stack tight">
            {effectsInWords(effects).map(({ text, tone }) => (
              <li key={text} className={`effect tone-${tone}`}>
                <span className="dot" />
                {text}
              </li>
            ))}
          </ul>
        ) : (
          <p className="muted">The tool is no longer in the catalog, so its effects are unknown.</p>
        )}
        <Facts
          of={[
            ['Declares', side_effects.length > 0 ? side_effects.map(sideEffectInWords).join(', ') : null],
            ['Session', session_id ? <SafeText key="session" text={session_id} /> : null],
            [
              'Labels',
              Object.keys(labels).length > 0 ? (
                <span className="row wrap" key="labels">
                  {Object.entries(labels).map(([name, value]) => (
                    <Tag key={name}>
                      <SafeText text={`${name}: ${value}`} />
                    </Tag>
                  ))}
                </span>
              ) : null,
            ],
          ]}
        />
      </div>
    </Panel>
  );
}
