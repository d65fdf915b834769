import type { McpToolChange } from '@capstan/contracts';
import { Diff } from '../../ui/diff.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';

/** The tool as it was taken, and as its MCP server describes it now. */
export function ToolChangePanel({ change: { before, after, found_at } }: { change: McpToolChange }) {
  return (
    <Panel
      title="What its server changed in the tool"
      sub={
        <>
          found <Time at={found_at} />
        </>
      }
    >
      <div className="stack">
        <p className="muted">Models read this description. Look for instructions in it, and for unnecessary inputs.</p>
        <Diff before={before} after={after} />
      </div>
    </Panel>
  );
}
