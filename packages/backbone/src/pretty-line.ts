type Line = {
  time?: string;
  level?: string;
  service?: string;
  msg?: string;
  err?: { stack?: string; message?: string };
};

/** `03:04:05.678 WARN  gateway  a request failed  request_id=req-1`, and below it the stack of an error. */
export function prettyLine(line: string): string {
  let parsed: Line & Record<string, unknown>;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const { time = '', level = '', service = '', msg = '', err, ...rest } = parsed;
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = [time.slice(11, 23), level.toUpperCase().padEnd(5), service.padEnd(11), msg, ...facts].join(' ');
  const stack = err?.stack ?? err?.message;
  return `${head}\n${stack ? `${stack.replace(/^/gm, '    ')}\n` : ''}`;
}
