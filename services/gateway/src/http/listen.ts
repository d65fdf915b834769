import type { FastifyInstance } from 'fastify';

/**
 * Connections that may wait to be accepted; the kernel allows no more than net.core.somaxconn. With Node's 511, a burst of 3,000
 * clients had to connect again, 1 to 15 s later.
 */
const BACKLOG = 4096;

/** Says what to do where the address cannot be had. */
export async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${port} of ${host} is in use. Stop what uses it, or set CAPSTAN_PORT to another.`);
    if (code === 'EACCES') throw new Error(`Port ${port} needs more rights than this process has. Set CAPSTAN_PORT.`);
    throw error;
  }
}
