import type { JsonObject } from '@capstan/contracts';
import { sayingOf, type Told } from './told.js';

/** An adaptive card for webhooks of Microsoft Teams. Text runs are not parsed as Markdown, so they need no escaping. */
export function teamsMessage(told: Told, public_url: string): JsonObject {
  const { head, tool, path, why } = sayingOf(told);
  const run = (text: string, more: JsonObject = {}): JsonObject => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            run(head, { weight: 'Bolder', size: 'Medium' }),
            ...(tool === '' ? [] : [run(tool, { fontType: 'Monospace' })]),
            ...why.map((part) => run(part)),
          ],
          actions: path === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Capstan', url: public_url + path }],
        },
      },
    ],
  };
}
