import { useNavigate } from '@tanstack/react-router';
import { Power } from 'lucide-react';
import { useState } from 'react';
import { useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import type { ToolDetail } from '../../api/tools.js';
import { Button } from '../../ui/button.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';

const PATHS: Partial<Record<ToolDetail['source'], string>> = { extension: '/v1/extensions', mcp: '/v1/mcp-servers' };

/** Tools are enabled and disabled together with their source. */
export function EnableButton({ tool }: { tool: ToolDetail }) {
  const send = useSend('tools', 'tool', 'sources');
  const navigate = useNavigate();
  const say = useToast();
  const admin = useMay('admin');
  const [asking, setAsking] = useState(false);
  const path = PATHS[tool.source];
  if (!path) return null;
  const action = tool.enabled ? 'Disable' : 'Enable';
  const set = async () => {
    const turn = (enabled: boolean) => send('PATCH', `${path}/${encodeURIComponent(tool.origin)}`, { enabled });
    await turn(!tool.enabled);
    say(`${tool.origin} is ${tool.enabled ? 'disabled' : 'enabled'}`, undefined, () => turn(tool.enabled));
    // Tools of a disabled MCP server are unknown until it is enabled.
    if (tool.enabled && tool.source === 'mcp') await navigate({ to: '/tools', search: { view: 'sources' } });
  };
  return (
    <>
      <Button
        {...(tool.enabled ? { kind: 'danger' as const } : {})}
        icon={<Power />}
        may={admin}
        onClick={() => setAsking(true)}
      >
        {action}
      </Button>
      {asking ? (
        <FormDialog
          title={`${action} ${tool.origin}`}
          action={action}
          danger={tool.enabled}
          onClose={() => setAsking(false)}
          onSubmit={set}
        >
          <p>
            All tools of <SafeText text={tool.origin} />{' '}
            {tool.enabled
              ? 'can no longer be called, and waiting calls are refused when their turn comes. You can enable it again.'
              : 'can be called again, where policy allows it.'}
          </p>
        </FormDialog>
      ) : null}
    </>
  );
}
