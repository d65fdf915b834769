import type { Problem } from '@capstan/contracts';
import type { Dispatcher } from 'undici';
import { type CapstanError, errorOfProblem } from './errors.js';

/** Reads the error of a response with status 400 or higher, even if a proxy wrote it. */
export const readProblem = async (response: Dispatcher.ResponseData, url: string): Promise<CapstanError> => {
  const text = await response.body.text();
  return errorOfProblem(
    { ...foreignProblem(response.statusCode, text, url), ...parseProblem(text) },
    { retry_after_s: retryAfter(response.headers['retry-after']) },
  );
};

const foreignProblem = (status: number, text: string, url: string): Problem => ({
  type: 'about:blank',
  title: `HTTP ${status}`,
  status,
  detail: `${url} answered HTTP ${status}${firstLine(text)}`,
  code: 0,
  suggestion: 'Check that CAPSTAN_URL is the address of a Capstan gateway, and check any proxy in between.',
});

const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line === '' || line.startsWith('<') || line.startsWith('{') ? '' : `: ${line.slice(0, 200)}`;
};

const parseProblem = (text: string): Partial<Problem> => {
  try {
    const body: unknown = JSON.parse(text);
    return isProblem(body) ? body : {};
  } catch {
    return {};
  }
};

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'detail' in body &&
  typeof body.detail === 'string' &&
  'code' in body &&
  typeof body.code === 'number';

/** `Retry-After` is a number of seconds or a date. */
const retryAfter = (header: string | string[] | undefined): number | null => {
  if (typeof header !== 'string') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
};
