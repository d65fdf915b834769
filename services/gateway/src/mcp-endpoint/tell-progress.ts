import type { Exchange } from './exchange.js';

const PROGRESS = /^\[progress (\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?\](?: (.*))?$/;
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const LOGGED = new RegExp(`^\\[(${LEVELS.join('|')})\\] (.*)$`);

/**
 * Turns the output of a call into notifications. Progress reported by an MCP server keeps its numbers, any other line counts as one
 * step, and log messages are sent if their level is high enough. Undefined if the client wants neither.
 */
export function toldAs(exchange: Exchange): ((line: string) => Promise<void>) | undefined {
  const { meta, log_level, notify } = exchange;
  const { progressToken } = meta;
  const wantsProgress = typeof progressToken === 'string' || typeof progressToken === 'number';
  const least = log_level === null ? Infinity : LEVELS.indexOf(log_level);
  if (!wantsProgress && least === Infinity) return undefined;
  // The protocol requires progress to increase.
  let last = -1;
  const tell = async (progress: number, total: number | undefined, message: string | undefined) => {
    if (!wantsProgress || progress <= last) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message ? { message } : {}),
    };
    await notify({ method: 'notifications/progress', params });
  };
  return async (line) => {
    const [, level, text] = LOGGED.exec(line) ?? [];
    if (level !== undefined) {
      if (LEVELS.indexOf(level) >= least)
        await notify({ method: 'notifications/message', params: { level, data: text } });
      return;
    }
    const [, progress, total, message] = PROGRESS.exec(line) ?? [];
    if (progress === undefined) await tell(Math.floor(last) + 1, undefined, line);
    else await tell(Number(progress), total === undefined ? undefined : Number(total), message);
  };
}
