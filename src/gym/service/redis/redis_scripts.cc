#include "gym/service/redis/redis_scripts.h"

namespace tritonsmith::gym::service::redis_scripts {

const char* const kCommon = R"(
local prefix = KEYS[1]
local call = redis.call
local function key(name) return prefix .. name end
local function job(name) return prefix .. 'job:' .. name end
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function work_came() call('PUBLISH', key('work'), 'changed') end
local function in_quarantine(gpu) return call('HEXISTS', key('quarantine'), gpu) == 1 end
local function verdict_came() call('PUBLISH', key('verdicts'), 'changed') end
-- Scores are doubles, which hold whole numbers up to 2^53 exactly: 2^44 jobs of each priority.
local function enqueue(name)
  local at = call('HMGET', job(name), 'priority', 'sequence', 'device')
  call('SADD', key('devices'), at[3])
  call('ZADD', key('queue:') .. at[3], at[1] * 17592186044416 + at[2], name)
end
local function dequeue(name)
  call('ZREM', key('queue:') .. (call('HGET', job(name), 'device') or ''), name)
end
local function queued_jobs()
  local count = 0
  for _, device in ipairs(call('SMEMBERS', key('devices'))) do
    count = count + call('ZCARD', key('queue:') .. device)
  end
  return count
end
local function is_unfinished(state) return state == 'queued' or state == 'running' end
local function withdraw(name, worker)
  call('SADD', key('withdrawn:') .. worker, name)
  call('EXPIRE', key('withdrawn:') .. worker, 3600)
end
-- The job ends: it leaves the queue, the leases, the deadlines and its submitter's share.
local function leave(name)
  dequeue(name)
  call('ZREM', key('running'), name)
  call('ZREM', key('deadlines'), name)
  local submitter = call('HGET', job(name), 'submitter')
  if submitter and submitter ~= '' then
    if call('HINCRBY', key('owned'), submitter, -1) <= 0 then
      call('HDEL', key('owned'), submitter)
    end
    call('HSET', job(name), 'submitter', '')
  end
end
local function view(name)
  local at = call('HMGET', job(name), 'state', 'verdict', 'submitted_ms', 'finished_ms', 'doubt')
  local is_done = at[1] == 'done'  -- a job in doubt keeps its first verdict, which is none of the view
  return {name, at[1], is_done and at[2] or '', at[3] or '0', at[4] or '0',
          is_unfinished(at[1]) and at[5] or ''}
end
local function cancel(now, client, name)
  local at = call('HMGET', job(name), 'state', 'worker')
  if not is_unfinished(at[1]) then return 0 end
  call('SREM', key('wanted:') .. name, client)
  call('SREM', key('awaiting:') .. client, name)
  call('ZREM', key('events:') .. client, name)
  if call('SCARD', key('wanted:') .. name) > 0 then return 0 end
  if at[2] ~= '' then withdraw(name, at[2]) end
  leave(name)
  call('HSET', job(name), 'state', 'cancelled', 'finished_ms', now, 'worker', '')
  call('ZADD', key('finished'), now, name)
  verdict_came()
  return 1
end
local function cancel_all(now, client)
  local count = 0
  for _, name in ipairs(call('SMEMBERS', key('awaiting:') .. client)) do
    count = count + cancel(now, client, name)
  end
  return count
end
local function hold(now, worker, span, first)
  for k = first, #ARGV do
    if call('HGET', job(ARGV[k]), 'worker') == worker then
      call('ZADD', key('running'), 'XX', now + span, ARGV[k])
    end
  end
end
local function notify_client(client, name)
  local number = call('HINCRBY', key('facts'), 'last_event', 1)
  call('SREM', key('awaiting:') .. client, name)
  call('ZADD', key('events:') .. client, number, name)
end
local function forget(name)
  for _, client in ipairs(call('SMEMBERS', key('wanted:') .. name)) do
    call('ZREM', key('events:') .. client, name)
    call('SREM', key('awaiting:') .. client, name)
  end
  for _, alias in ipairs(call('SMEMBERS', key('aliases_of:') .. name)) do
    if call('HGET', key('aliases'), alias) == name then call('HDEL', key('aliases'), alias) end
  end
  call('DEL', key('wanted:') .. name, key('aliases_of:') .. name, job(name))
  call('ZREM', key('finished'), name)
end
local function forget_old(keep)
  local over = call('ZCARD', key('finished')) - keep
  if over < math.max(1, keep / 20) then return end
  for _, name in ipairs(call('ZRANGE', key('finished'), 0, math.min(over, 1000) - 1)) do
    forget(name)
  end
end
)";

const char* const kEpoch = R"(
call('HSETNX', key('facts'), 'epoch', ARGV[1])
return call('HGET', key('facts'), 'epoch')
)";

const char* const kSubmit = R"(
local now, limit, version = clock(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local submitter, share = ARGV[4], tonumber(ARGV[5])
local first, width = 6, 7
for k = first, #ARGV, width do
  if call('ZSCORE', key('gone'), ARGV[k + 4]) then return {'gone', ARGV[k + 4]} end
end
local function is_done(name)
  local at = call('HMGET', job(name), 'state', 'final', 'version')
  return at[1] == 'done' and at[2] == '1' and at[3] == version
end
local function has(name) return is_unfinished(call('HGET', job(name), 'state')) end

-- All of them fit, or none is taken.
local added, seen = 0, {}
for k = first, #ARGV, width do
  local name = ARGV[k]
  if ARGV[k + 5] == '' and not seen[name] and not is_done(name) and not has(name) then
    added = added + 1
    seen[name] = true
  end
end
if added > 0 then
  local unfinished = queued_jobs() + call('ZCARD', key('running'))
  if unfinished + added > limit then return {'full', unfinished, limit, ''} end
  local own = tonumber(call('HGET', key('owned'), submitter) or '0')
  if submitter ~= '' and share > 0 and own + added > share then
    return {'full', own, share, submitter}
  end
end

local function want(client, name, known)
  call('SADD', key('wanted:') .. name, client)
  if known then
    notify_client(client, name)
  else
    call('ZREM', key('events:') .. client, name)
    call('SADD', key('awaiting:') .. client, name)
  end
end
local function enter(name, submission, priority, deadline, device)
  local sequence = call('HINCRBY', key('facts'), 'sequence', 1)
  call('DEL', job(name))
  call('ZREM', key('finished'), name)
  call('HSET', job(name), 'state', 'queued', 'submission', submission, 'priority', priority,
       'sequence', sequence, 'deadline_ms', deadline, 'submitted_ms', now, 'finished_ms', 0,
       'submitter', submitter, 'worker', '', 'device', device)
  enqueue(name)
  if deadline > 0 then call('ZADD', key('deadlines'), deadline, name) end
  if submitter ~= '' then call('HINCRBY', key('owned'), submitter, 1) end
end
local function recall(name, submission, priority, verdict)
  call('DEL', job(name))
  call('HSET', job(name), 'state', 'done', 'submission', submission, 'priority', priority,
       'submitted_ms', now, 'finished_ms', now, 'verdict', verdict, 'final', '1',
       'version', version, 'worker', '')
  call('ZADD', key('finished'), now, name)
end
-- Nobody's verdict comes later, or fails, because somebody else was less patient or urgent.
local function join(name, priority, deadline)
  local at = call('HMGET', job(name), 'priority', 'deadline_ms', 'state')
  local earlier = tonumber(at[2])
  priority = math.min(priority, tonumber(at[1]))
  deadline = (deadline == 0 or earlier == 0) and 0 or math.max(deadline, earlier)
  call('HSET', job(name), 'priority', priority, 'deadline_ms', deadline)
  call('ZREM', key('deadlines'), name)
  if deadline > 0 then call('ZADD', key('deadlines'), deadline, name) end
  if at[3] == 'queued' then enqueue(name) end
end

local reply, has_work, has_verdict = {'ok'}, false, false
for k = first, #ARGV, width do
  local name, submission, priority = ARGV[k], ARGV[k + 1], tonumber(ARGV[k + 2])
  local span, client, recalled = tonumber(ARGV[k + 3]), ARGV[k + 4], ARGV[k + 5]
  local deadline = span > 0 and now + span or 0
  local done, unfinished = is_done(name), has(name)
  local is_recalled = recalled ~= '' and not unfinished and not done
  want(client, name, done or is_recalled)
  if is_recalled then
    recall(name, submission, priority, recalled)
  elseif unfinished then
    join(name, priority, deadline)
  elseif not done then
    enter(name, submission, priority, deadline, ARGV[k + 6])
  end
  for _, value in ipairs(view(name)) do reply[#reply + 1] = value end
  if done or is_recalled then has_verdict = true else has_work = true end
end
if has_work then work_came() end
if has_verdict then verdict_came() end
return reply
)";

const char* const kFind = R"(
if call('EXISTS', job(ARGV[1])) == 0 then return false end
return view(ARGV[1])
)";

const char* const kCancel = R"(
local now = clock(ARGV[1])
if ARGV[3] == '' then return cancel_all(now, ARGV[2]) end
return cancel(now, ARGV[2], ARGV[3])
)";

const char* const kDismiss = R"(
local now = clock(ARGV[1])
call('ZADD', key('gone'), now, ARGV[2])
call('ZREMRANGEBYRANK', key('gone'), 0, -10001)
return cancel_all(now, ARGV[2])
)";

const char* const kEvents = R"(
local reply = {}
local found = call('ZRANGEBYSCORE', key('events:') .. ARGV[1], '(' .. ARGV[2], '+inf',
                   'WITHSCORES', 'LIMIT', 0, ARGV[3])
for k = 1, #found, 2 do
  local at = call('HMGET', job(found[k]), 'state', 'verdict', 'doubt')
  if at[1] == 'done' or (at[3] and is_unfinished(at[1])) then
    reply[#reply + 1] = found[k + 1]
    reply[#reply + 1] = found[k]
    reply[#reply + 1] = at[2]
  end
end
return reply
)";

const char* const kAwaited = R"(
return call('SCARD', key('awaiting:') .. ARGV[1])
)";

const char* const kRememberAlias = R"(
call('HSET', key('aliases'), ARGV[1], ARGV[2])
call('SADD', key('aliases_of:') .. ARGV[2], ARGV[1])
)";

const char* const kFindAlias = R"(
return call('HGET', key('aliases'), ARGV[1])
)";

const char* const kCounts = R"(
local step, counts = 17592186044416, {}
local devices = call('SMEMBERS', key('devices'))
for priority = 0, 2 do
  local count, most = 0, string.format('(%.0f', (priority + 1) * step)
  for _, device in ipairs(devices) do
    count = count + call('ZCOUNT', key('queue:') .. device, priority * step, most)
  end
  counts[#counts + 1] = count
end
counts[#counts + 1] = call('ZCARD', key('running'))
counts[#counts + 1] = call('HGET', key('facts'), 'repeated_verdicts') or '0'
counts[#counts + 1] = call('HLEN', key('quarantine'))
counts[#counts + 1] = call('HGET', key('facts'), 'judged_again') or '0'
return counts
)";

const char* const kQueued = R"(
local names = {}
for _, device in ipairs(call('SMEMBERS', key('devices'))) do
  for _, name in ipairs(call('ZRANGE', key('queue:') .. device, 0, -1)) do
    names[#names + 1] = name
  end
end
return names
)";

const char* const kSubmission = R"(
local at = call('HMGET', job(ARGV[1]), 'state', 'submission')
if at[1] ~= 'queued' then return false end
return at[2]
)";

const char* const kTake = R"(
local now, worker, span, ticket = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local most = tonumber(ARGV[5])
local count = tonumber(ARGV[6])  -- classes of devices; with 0 it takes every job
local gpus = tonumber(ARGV[7])
hold(now, worker, span, 8 + count + gpus)
for k = 8 + count, 7 + count + gpus do
  if in_quarantine(ARGV[k]) then return {} end
end
local reply, bytes = {}, 0
local function hand_out(name)
  local submission = call('HGET', job(name), 'submission')
  reply[#reply + 1] = name
  reply[#reply + 1] = submission
  bytes = bytes + #submission
end
-- The reply to this very call may have been lost: then the worker gets the same jobs.
local last = call('HMGET', key('ticket:') .. worker, 'ticket', 'names')
if last[1] == ticket then
  for name in string.gmatch(last[2], '%S+') do
    if call('HGET', job(name), 'worker') == worker then hand_out(name) end
  end
  if #reply > 0 then return reply end
end
-- The jobs of workers that did not renew their lease are queued again.
for _, name in ipairs(call('ZRANGEBYSCORE', key('running'), '-inf', now, 'LIMIT', 0, 1000)) do
  withdraw(name, call('HGET', job(name), 'worker'))
  call('HSET', job(name), 'state', 'queued', 'worker', '')
  call('ZREM', key('running'), name)
  enqueue(name)
end
-- A lease that ends later than it can was written before the clock was set back.
local latest = string.format('(%.0f', now + span)
for _, held in ipairs(call('ZRANGEBYSCORE', key('running'), latest, '+inf', 'LIMIT', 0, 1000)) do
  local longest = now + (call('HGET', job(held), 'span') or span)
  if tonumber(call('ZSCORE', key('running'), held)) > longest then
    call('ZADD', key('running'), longest, held)
  end
end
local classes = {''}
for k = 8, 7 + count do classes[#classes + 1] = ARGV[k] end
if count == 0 then classes = call('SMEMBERS', key('devices')) end
local function first_in_queue()
  local name, best
  for _, device in ipairs(classes) do
    local at = call('ZRANGE', key('queue:') .. device, 0, 0, 'WITHSCORES')
    if at[1] and (not best or tonumber(at[2]) < best) then name, best = at[1], tonumber(at[2]) end
  end
  return name
end
local taken = {}
while #taken < most and bytes < 8388608 do
  local name = first_in_queue()
  if not name then break end
  dequeue(name)
  call('HSET', job(name), 'state', 'running', 'worker', worker, 'span', span)
  call('ZADD', key('running'), now + span, name)
  call('SREM', key('withdrawn:') .. worker, name)
  taken[#taken + 1] = name
  hand_out(name)
end
if #taken > 0 then
  call('HSET', key('ticket:') .. worker, 'ticket', ticket, 'names', table.concat(taken, ' '))
  call('EXPIRE', key('ticket:') .. worker, 3600)
end
return reply
)";

const char* const kRenew = R"(
hold(clock(ARGV[1]), ARGV[2], tonumber(ARGV[3]), 4)
)";

const char* const kConclude = R"(
local now, worker, version, keep = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local has_work = false
for k = 5, #ARGV, 4 do
  local name, verdict, final, gpu = ARGV[k], ARGV[k + 1], ARGV[k + 2], ARGV[k + 3]
  local at = call('HMGET', job(name), 'state', 'worker', 'doubt')
  if gpu ~= '' and in_quarantine(gpu) then
    if at[1] == 'running' and at[2] == worker then
      call('HSET', job(name), 'state', 'queued', 'worker', '')
      call('ZREM', key('running'), name)
      enqueue(name)
      has_work = true
    end
  elseif is_unfinished(at[1]) then
    if at[2] ~= '' and at[2] ~= worker then withdraw(name, at[2]) end
    leave(name)
    if at[3] then
      call('HDEL', job(name), 'doubt')
      call('HINCRBY', key('facts'), 'judged_again', 1)
    end
    call('HSET', job(name), 'state', 'done', 'worker', '', 'finished_ms', now,
         'verdict', verdict, 'final', final, 'version', version, 'gpu', gpu)
    call('ZADD', key('finished'), now, name)
    if gpu ~= '' then
      call('ZADD', key('judged_on:') .. gpu, now, name)
      call('ZREMRANGEBYRANK', key('judged_on:') .. gpu, 0, -(keep + 1))
    end
    for _, client in ipairs(call('SMEMBERS', key('wanted:') .. name)) do
      if call('SISMEMBER', key('awaiting:') .. client, name) == 1 then
        notify_client(client, name)
      end
    end
  elseif at[1] == 'done' then
    call('HINCRBY', key('facts'), 'repeated_verdicts', 1)
  end
end
forget_old(keep)
if has_work then work_came() end
verdict_came()
)";

const char* const kGiveBack = R"(
if ARGV[1] == '' or call('HGET', job(ARGV[2]), 'worker') ~= ARGV[1] then return end
call('HSET', job(ARGV[2]), 'state', 'queued', 'worker', '')
call('ZREM', key('running'), ARGV[2])
enqueue(ARGV[2])
work_came()
)";

const char* const kWithdrawn = R"(
local names = call('SMEMBERS', key('withdrawn:') .. ARGV[1])
call('DEL', key('withdrawn:') .. ARGV[1])
return names
)";

const char* const kOverdue = R"(
local late = {}
for _, name in ipairs(call('ZRANGEBYSCORE', key('deadlines'), '-inf', clock(ARGV[1]),
                           'LIMIT', 0, 100)) do
  late[#late + 1] = call('HGET', job(name), 'submission')
end
return late
)";

const char* const kAnnounce = R"(
call('ZADD', key('workers'), clock(ARGV[1]), ARGV[2])
call('SET', key('worker:') .. ARGV[2], ARGV[4], 'PX', ARGV[3])
)";

const char* const kDepart = R"(
call('ZREM', key('workers'), ARGV[1])
call('DEL', key('worker:') .. ARGV[1], key('withdrawn:') .. ARGV[1], key('ticket:') .. ARGV[1])
)";

const char* const kWorkers = R"(
local reply, now = {}, clock(ARGV[1])
local found = call('ZRANGE', key('workers'), 0, -1, 'WITHSCORES')
for k = 1, #found, 2 do
  local said = call('GET', key('worker:') .. found[k])
  -- A heartbeat of the future came before the clock was set back. A living worker sends another.
  if said and tonumber(found[k + 1]) <= now + 1000 then
    reply[#reply + 1] = said
    reply[#reply + 1] = found[k + 1]
  else
    call('ZREM', key('workers'), found[k])
  end
end
-- Hosts that only capture announce themselves beside the steps that they take. A seal of 64
-- characters stands before what they say.
found = call('ZRANGE', key('steps:hosts'), 0, -1, 'WITHSCORES')
for k = 1, #found, 2 do
  local said = call('GET', key('steps:host:') .. found[k])
  if said then
    reply[#reply + 1] = string.sub(said, 65)
    reply[#reply + 1] = found[k + 1]
  end
end
return reply
)";

}  // namespace tritonsmith::gym::service::redis_scripts
