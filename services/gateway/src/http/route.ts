import type { Principal, Role } from '@capstan/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';

/** The arguments of a handler: an authenticated, authorized and parsed request. */
export type Asked<Query, Body> = {
  principal: Principal;
  params: Record<string, string>;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** With a schema, the media type is JSON by default. */
export type RouteAnswer = { description: string; schema?: z.ZodType; media_type?: string };

/** The definition of a route. Routes are registered from it, and /openapi.json is generated from it. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  /** Any one of these roles. Absent: no key is needed. */
  roles?: Role[];
  /** Refuses requests that a foreign web page may have sent. */
  own_pages_only?: boolean;
  /** Accepts tokens that the identity provider issued for this address, and tells callers without one where to get it. */
  is_protected_resource?: boolean;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The body's `idempotency_key` may come as the header Idempotency-Key instead. */
  idempotency_header?: true;
  /** Supports If-Match: refused if it is not the ETag of the current version. */
  if_match_header?: true;
  answers: Record<number, RouteAnswer>;
  body_limit?: 'bulk';
  /** Submits work: refused while the gateway is overloaded. */
  brings_work?: true;
  /** Accepts any Content-Type; anything but JSON and YAML comes as bytes. `stream`: everything as a stream, without a size limit. */
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

/** The roles that may read a tenant's everyday data. */
export const READERS: Role[] = ['submit', 'operate', 'audit'];

/** The roles that may read how the system is set up. */
export const OVERSEERS: Role[] = ['admin', 'operate', 'audit'];
