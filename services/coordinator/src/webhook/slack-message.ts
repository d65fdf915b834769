import type { Json, JsonObject } from '@capstan/contracts';
import { visibleText } from '@capstan/contracts/visible-text';
import { type Saying, sayingOf, type Told } from './told.js';

/** The hold that the buttons decide, with the inputs that the message shows. */
export type Decidable = { hold_id: string; input_hash: string; inputs: Json };

export type SlackMessage = { text: string; blocks?: JsonObject[] };

/**
 * A message for Slack's incoming webhooks and compatible services. If there is a hold to decide, it has buttons and shows the
 * inputs, so that nobody approves inputs they have not seen.
 */
export function slackMessage(told: Told, public_url: string, decidable: Decidable | null = null): SlackMessage {
  const saying = sayingOf(told);
  const text = lineOf(saying, told.subject, public_url);
  return decidable ? { text, blocks: blocksOf(text, decidable) } : { text };
}

function lineOf({ head, tool, path, why }: Saying, subject: string, public_url: string): string {
  if (path === null) return literal(head);
  const link = `<${public_url}${path}|${literal(subject)}>`;
  const parts = [literal(tool), link, ...why.map(literal)].filter((part) => part !== '');
  return `${literal(head)}: ${parts.join(' · ')}`;
}

/** Slack allows 3,000 characters in a block. The page of the hold shows the rest. */
const MAX_SHOWN = 2500;

function blocksOf(text: string, { hold_id, input_hash, inputs }: Decidable): JsonObject[] {
  const whole = visibleText(JSON.stringify(inputs, null, 2));
  const shown = whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}\n… open the hold to see the rest` : whole;
  // Inputs that are not shown completely cannot be approved here.
  const may_release = shown === whole;
  const button = (action_id: 'release' | 'reject', label: string, style: string): JsonObject => ({
    type: 'button',
    action_id,
    style,
    text: { type: 'plain_text', text: label },
    value: JSON.stringify({ hold_id, input_hash }),
  });
  return [
    { type: 'section', text: { type: 'mrkdwn', text } },
    {
      type: 'rich_text',
      elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: shown }] }],
    },
    {
      type: 'input',
      block_id: 'comment',
      optional: true,
      label: { type: 'plain_text', text: 'Comment, or reason for rejecting' },
      element: { type: 'plain_text_input', action_id: 'comment', max_length: 1000 },
    },
    {
      type: 'actions',
      elements: [
        ...(may_release ? [button('release', 'Approve', 'primary')] : []),
        button('reject', 'Reject', 'danger'),
      ],
    },
  ];
}

/** Escapes the characters with a meaning in Slack's markup. */
const literal = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
