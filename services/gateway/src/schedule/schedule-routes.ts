import { NewSchedule, pageOf, Schedule, ScheduleChange, ScheduleDetail, SequenceQuery } from '@capstan/contracts';
import { deleteSchedule, listSchedules } from '@capstan/store/schedule';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { changeSchedule, createSchedule, readSchedule } from './schedules.js';

export const scheduleRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/schedules',
    summary: 'Create a schedule that starts a tool or a plan by cron pattern or at an interval',
    roles: ['submit'],
    body: NewSchedule,
    body_limit: 'bulk',
    answers: { 201: { description: 'The schedule', schema: ScheduleDetail } },
    handle: async (gateway, { principal, body, reply }) => {
      const schedule = await createSchedule(gateway, principal, body);
      return reply.code(201).header('location', `/v1/schedules/${schedule.schedule_id}`).send(schedule);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/schedules',
    summary: 'List schedules, newest first',
    roles: READERS,
    query: SequenceQuery.strict(),
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(Schedule),
      },
    },
    handle: ({ store }, { principal, query }) => {
      return listSchedules(store.db, principal.tenant, query);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/schedules/{id}',
    summary: 'Get a schedule with its next and last starts',
    roles: READERS,
    answers: { 200: { description: 'The schedule', schema: ScheduleDetail } },
    handle: (gateway, { principal, params }) => readSchedule(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'PATCH',
    path: '/v1/schedules/{id}',
    summary: 'Pause or resume a schedule, or change when and how it starts',
    roles: ['submit', 'operate'],
    body: ScheduleChange,
    answers: { 200: { description: 'The schedule', schema: ScheduleDetail } },
    handle: (gateway, { principal, params, body }) => changeSchedule(gateway, principal, params.id ?? '', body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/schedules/{id}',
    summary: 'Delete a schedule; what it started continues',
    roles: ['submit', 'operate'],
    answers: { 204: { description: 'It is gone' } },
    handle: async ({ store }, { principal, params, reply }) => {
      if (!(await deleteSchedule(store, principal, params.id ?? ''))) throw notFound(params.id ?? '');
      return reply.code(204).send();
    },
  }),
];
