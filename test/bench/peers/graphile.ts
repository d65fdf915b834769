import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { CONCURRENCY, type Peer } from './peer.js';

const logger = new Logger(() => () => undefined);

/** graphile-worker: jobs in Postgres, each claimed by its own statement. */
export const graphile: Peer = {
  async openProducer(connectionString) {
    const utils = await makeWorkerUtils({ connectionString, logger });
    await utils.migrate();
    return {
      add: (a) => utils.addJob('add', { a, b: 3 }),
      addMany: (jobs) =>
        utils.withPgClient((client) =>
          client.query(
            `SELECT FROM graphile_worker.add_jobs(ARRAY(
               SELECT json_populate_record(NULL::graphile_worker.job_spec, json_build_object('identifier', 'add', 'payload', job))
               FROM json_array_elements($1::json) AS job))`,
            [JSON.stringify(jobs)],
          ),
        ),
    };
  },
  async work(connectionString, { completed }) {
    const runner = await run({
      ...{ connectionString, logger, concurrency: CONCURRENCY, maxPoolSize: 10, noHandleSignals: true },
      taskList: { add: async () => undefined },
    });
    runner.events.on('job:complete', () => completed(1));
  },
};
