import { z } from 'zod';
import type { Json } from './json.js';
import { InvocationStatus } from './status.js';

/** A session exists once an invocation, a file or a note uses it. */
export const Session = z.object({
  session_id: z.string(),
  invocations: z.int(),
  files: z.int(),
  size_bytes: z.int(),
  notes: z.int(),
  first_used_at: z.iso.datetime(),
  last_used_at: z.iso.datetime(),
});
export type Session = z.infer<typeof Session>;

export const FileEncoding = z.enum(['text', 'base64']);
export type FileEncoding = z.infer<typeof FileEncoding>;

export const SessionFile = z.object({
  path: z.string(),
  name: z.string(),
  is_directory: z.boolean(),
  is_readonly: z.boolean(),
  size_bytes: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type SessionFile = z.infer<typeof SessionFile>;

export const SessionFileContent = SessionFile.extend({ content: z.string(), encoding: FileEncoding });
export type SessionFileContent = z.infer<typeof SessionFileContent>;

export const NewSessionFile = z.strictObject({
  content: z.string(),
  encoding: FileEncoding.default('text'),
  /** Tools may read the file, but not change or delete it. */
  is_readonly: z.boolean().default(false),
});
export type NewSessionFile = z.infer<typeof NewSessionFile>;
export type NewSessionFileInput = z.input<typeof NewSessionFile>;

export const SessionNote = z.object({ section: z.string(), content: z.string(), updated_at: z.iso.datetime() });
export type SessionNote = z.infer<typeof SessionNote>;

/** The last result in a session, which `explain last_response` refers to. */
export const LastResponse = z.object({
  invocation_id: z.string(),
  tool_id: z.string(),
  status: InvocationStatus,
  success: z.boolean(),
  payload: z.custom<Json>(() => true),
  error: z.string().nullable(),
  finished_at: z.iso.datetime(),
});
export type LastResponse = z.infer<typeof LastResponse>;
