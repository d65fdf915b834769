import type { Exchange } from './exchange.js';

const PROGRESS = /^\[progress (\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?\](?: (.*))?$/;
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const LOGGED = new RegExp(`^\\[(${LEVELS.join('|')})\\] (.*)$`);

/**
 * What a call prints, as the client wants to hear it: progress that an MCP server reported keeps its numbers, any other line is
 * a step of its own; log messages go to who asked for their level. Undefined when nobody listens.
 */
export function toldAs(exchange: Exchange): ((line: string) => Promise<void>) | undefined {
  const { meta, log_level, notify } = exchange;
  const { progressToken } = meta;
  const wantsProgress = typeof progressToken === 'string' || typeof progressToken === 'number';
  const least = log_level === null ? Infinity : LEVELS.indexOf(log_level);
  if (!wantsProgress && least === Infinity) return undefined;
  // It has to grow from one to the next.
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
