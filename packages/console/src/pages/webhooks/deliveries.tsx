import type { Webhook, WebhookDelivery } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { get } from '../../api/request.js';
import { inWords, Tag } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { EmptyState } from '../../ui/empty.js';
import { ListBody } from '../../ui/list-body.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';

const TONES = { pending: 'blue', delivered: 'green', failed: 'red' } as const;

/** The deliveries, with their responses. */
export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const path = `/v1/webhooks/${encodeURIComponent(webhook.webhook_id)}/deliveries`;
  const deliveries = useQuery({
    queryKey: ['webhooks', webhook.webhook_id, 'deliveries'],
    queryFn: ({ signal }) => get<{ items: WebhookDelivery[] }>(path, { limit: 50 }, signal),
    refetchInterval: 5000,
  });
  const send = useSend('webhooks');
  const say = useToast();
  const may = useMay('admin', 'operate');
  const again = async (id: string) => {
    try {
      await send('POST', `${path}/${encodeURIComponent(id)}/redeliver`, {});
      say('It is sent again');
    } catch (error) {
      say.problem('It could not be sent again', error);
    }
  };
  return (
    <Dialog title="Deliveries" onClose={onClose} width={680}>
      <p className="muted">
        <SafeText text={webhook.url} />
      </p>
      <ListBody of={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState tight title="No deliveries yet" />
          ) : (
            <ul className="mini-table">
              {items.map(({ delivery_id, type, subject, state, attempts, response_status, error, created_at }) => (
                <li key={delivery_id} className="mini-row">
                  <Tag tone={TONES[state]}>{inWords(state)}</Tag>
                  <span className="grow truncate">
                    <strong>{type}</strong> <SafeText text={error ?? subject} />
                  </span>
                  <span className="muted num">
                    {response_status ?? ''} {attempts > 1 ? `× ${attempts}` : ''}
                  </span>
                  <span className="muted">
                    <Time at={created_at} />
                  </span>
                  <IconButton
                    icon={<RotateCcw />}
                    label="Send again"
                    may={may}
                    onClick={() => void again(delivery_id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </ListBody>
    </Dialog>
  );
}
