import type { Principal, Role } from '@capstan/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';

/** What a handler gets: parsed, authenticated, allowed. */
export type Asked<Query, Body> = {
  principal: Principal;
  params: Record<string, string>;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** JSON when it has a schema and nothing else is said. */
export type RouteAnswer = { description: string; schema?: z.ZodType; media_type?: string };

/** A route, once: what registers it also writes /openapi.json. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  /** Any one of these roles. Absent: no key is needed. */
  roles?: Role[];
  /** Refuses what a foreign web page may have sent. */
  own_pages_only?: boolean;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The body's `idempotency_key` may come as the header Idempotency-Key instead. */
  idempotency_header?: true;
  /** Takes If-Match: refused when that is not the ETag of what it changes. */
  if_match_header?: true;
  answers: Record<number, RouteAnswer>;
  body_limit?: 'bulk';
  /** Brings work: refused while the gateway is overloaded. */
  brings_work?: true;
  /** Takes a body of any Content-Type, as bytes where it is neither JSON nor YAML; `stream`: as they come, without a limit. */
  raw_body?: boolean | 'stream';
  handle(gateway: GatewayContext, asked: Asked<unknown, unknown>): unknown;
};

type Typed<Query extends z.ZodObject, Body extends z.ZodType> = Omit<Route, 'query' | 'body' | 'handle'> & {
  query?: Query;
  body?: Body;
  handle(gateway: GatewayContext, asked: Asked<z.infer<Query>, z.infer<Body>>): unknown;
};

/** Ties the handler's types to the schemas; register-routes.ts parses with those same schemas. */
export const route = <
  Query extends z.ZodObject = z.ZodObject<Record<string, never>>,
  Body extends z.ZodType = z.ZodNever,
>(
  typed: Typed<Query, Body>,
): Route => typed as unknown as Route;
