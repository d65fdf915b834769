import type { Transporter } from 'nodemailer';
import { sayingOf, type Told } from './told.js';

export type MailSettings = {
  /** `smtp://user:password@host:587`, or `smtps://…`. */
  smtp_url?: string | undefined;
  from?: string | undefined;
};

export type Mail = { id: string; to: string; subject: string; text: string };

export type Mailer = {
  send(mail: Mail): Promise<void>;
  close(): void;
};

const TIMEOUT_MS = 15_000;
const DEFAULT_FROM = 'Capstan <capstan@localhost>';

/** Sends mail through the configured server, over pooled connections. */
export function createMailer({ smtp_url, from = DEFAULT_FROM }: MailSettings): Mailer {
  let transport: Promise<Transporter> | null = null;
  // Loaded with the first mail, because most installations send none.
  const open = async (): Promise<Transporter> => {
    if (smtp_url === undefined)
      throw new Error('no mail server is configured: set CAPSTAN_SMTP_URL on the coordinator');
    const { createTransport } = await import('nodemailer');
    return createTransport(
      {
        url: smtp_url,
        pool: true,
        maxConnections: 2,
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      },
      { from },
    );
  };
  return {
    send: async ({ id, to, subject, text }) => {
      transport ??= open();
      transport.catch(() => {
        transport = null;
      });
      const opened = await transport;
      await opened.sendMail({ to: { name: '', address: to }, subject, text, messageId: `<${id}@capstan>` });
    },
    close: () => void transport?.then((opened) => opened.close()).catch(() => {}),
  };
}

/** Plain text, so that nothing a tool or a person wrote is read as markup. */
export function mailOf(told: Told, link: string | null): Pick<Mail, 'subject' | 'text'> {
  const { head, tool, why } = sayingOf(told);
  const asks = told.type === 'hold.created' || told.type === 'hold.expiring';
  return {
    subject: tool === '' ? head : `${head}: ${tool}`,
    text: [
      ...[head, tool, ...why].filter((line) => line !== ''),
      ...(link === null ? [] : ['', asks ? 'Review and decide:' : 'View details:', link]),
      ...(link !== null && asks ? ['', 'The link works once. You need to log in as usual.'] : []),
      '',
    ].join('\n'),
  };
}
