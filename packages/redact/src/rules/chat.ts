import { ALNUM, BASE64URL, charClass, DIGIT, HEX, WORD } from '../char-class.js';
import type { Rule } from '../rule.js';
import { just, some, tokenRule } from '../token-rule.js';

/** The numeric id of a bot in base64. Its first four characters have few possible values, so they rarely occur by chance. */
const DISCORD_STARTS = ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'].flatMap((two) =>
  [...'AEIMQUYcgk'].flatMap((third) => [...'wxyz012345'].map((fourth) => two + third + fourth)),
);
const SNOWFLAKE = charClass('A-Z', 'a-z', '0-9');

/** Tokens of bots and clouds that have a format but no prefix of their own. */
export const CHAT_RULES: readonly Rule[] = [
  tokenRule({
    id: 'discord-bot-token',
    anchors: DISCORD_STARTS,
    parts: [some(SNOWFLAKE, 19, 24), ['.'], just(BASE64URL, 6), ['.'], some(BASE64URL, 27, 40)],
    entropy: 3.5,
    exact: true,
  }),
  tokenRule({
    id: 'discord-webhook',
    anchors: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    parts: [some(DIGIT, 16, 20), ['/'], some(BASE64URL, 40)],
    anywhere: true,
    hidden_from: 2,
  }),
  tokenRule({
    id: 'telegram-bot-token',
    anchors: [':AA'],
    parts: [just(BASE64URL, 33)],
    entropy: 3,
    exact: true,
    anywhere: true,
    behind: /(?:^|[^0-9])(?:bot)?[0-9]{8,12}$/,
  }),
  tokenRule({
    id: 'azure-storage-key',
    anchors: ['AccountKey=', 'SharedAccessKey='],
    parts: [some(charClass('A-Z', 'a-z', '0-9', '+/='), 40, 100)],
    entropy: 3,
    anywhere: true,
    hidden_from: 0,
  }),
  tokenRule({
    id: 'azure-sas-signature',
    anchors: ['&sig=', '?sig='],
    parts: [some(charClass('A-Z', 'a-z', '0-9', '%+/='), 43, 100)],
    entropy: 3,
    anywhere: true,
    hidden_from: 0,
  }),
  tokenRule({
    id: 'azure-cask-key',
    anchors: ['JQQJ99'],
    parts: [some(ALNUM, 20, 30)],
    entropy: 3,
    anywhere: true,
    behind: /[A-Za-z0-9]{24}$/,
  }),
  tokenRule({
    id: 'cloud-request-signature',
    anchors: ['Signature='],
    parts: [some(HEX, 64, 1024)],
    entropy: 3,
    anywhere: true,
    folded: true,
    hidden_from: 0,
  }),
  tokenRule({
    id: 'firebase-server-key',
    anchors: [':APA91b'],
    parts: [some(charClass('A-Z', 'a-z', '0-9', '_', '-'), 100, 300)],
    entropy: 4,
    anywhere: true,
    behind: /(?:^|\W)[A-Za-z0-9_-]{11,23}$/,
  }),
  tokenRule({
    id: 'mapbox-secret-token',
    anchors: ['sk.eyJ'],
    parts: [some(WORD, 40, 200), ['.'], some(ALNUM, 20, 60)],
  }),
];
