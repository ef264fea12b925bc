#include "gym/steps/step_queue.h"

namespace tritonsmith::gym::steps {
namespace {

// Keys, each after the prefix:
//   asked:NAME    hash: request, shared
//   queue         sorted set of the steps that wait, by the order of arrival
//   running       sorted set of the steps under way, by the end of their lease
//   reply:NAME    what came of a step
//   shared:NAME   the reply to all equal steps
//   sequence      counts the steps
//   host:HOST     what a capturing host last said; it ends with the span that it gave. The job
//                 store's script kWorkers lists it
//   hosts         sorted set of the hosts, by the time of their last announcement
// and a channel `changes`. A step that nobody collects is forgotten after an hour, and a shared
// reply after a day.
const char* const kCommon = R"(
local call = redis.call
local function key(name) return KEYS[1] .. name end
local function clock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function enqueue(name) call('ZADD', key('queue'), call('INCR', key('sequence')), name) end
local function changed() call('PUBLISH', key('changes'), 'changed') end
)";

const char* const kAsk = R"(
local name, shared, request = ARGV[1], ARGV[2], ARGV[3]
if shared ~= '' then
  local reply = call('GET', key('shared:') .. shared)
  if reply then return reply end
end
if call('EXISTS', key('asked:') .. name, key('reply:') .. name) == 0 then
  call('HSET', key('asked:') .. name, 'request', request, 'shared', shared)
  call('EXPIRE', key('asked:') .. name, 3600)
  enqueue(name)
  changed()
end
return false
)";

const char* const kCollect = R"(
local now, hosts = clock(), 0
for _, host in ipairs(call('ZRANGE', key('hosts'), 0, -1)) do
  if call('EXISTS', key('host:') .. host) == 1 then
    hosts = hosts + 1
  else
    call('ZREM', key('hosts'), host)
  end
end
local answer = {hosts}
for k = 1, #ARGV do
  local reply = call('GET', key('reply:') .. ARGV[k])
  if reply then
    call('EXPIRE', key('reply:') .. ARGV[k], 60)
    answer[#answer + 1] = 'done'
    answer[#answer + 1] = reply
  else
    answer[#answer + 1] = call('EXISTS', key('asked:') .. ARGV[k]) == 1 and 'waits' or 'lost'
    answer[#answer + 1] = ''
  end
end
return answer
)";

const char* const kWithdraw = R"(
call('DEL', key('asked:') .. ARGV[1], key('reply:') .. ARGV[1])
call('ZREM', key('queue'), ARGV[1])
call('ZREM', key('running'), ARGV[1])
)";

const char* const kTake = R"(
local now, span = clock(), tonumber(ARGV[1])
for k = 2, #ARGV do call('ZADD', key('running'), 'XX', now + span, ARGV[k]) end
for _, name in ipairs(call('ZRANGEBYSCORE', key('running'), '-inf', now, 'LIMIT', 0, 1000)) do
  call('ZREM', key('running'), name)
  enqueue(name)
end
-- Leases that end later than any lease can: the clock was set back.
for _, name in ipairs(call('ZRANGEBYSCORE', key('running'), now + 10 * span, '+inf',
                           'LIMIT', 0, 1000)) do
  call('ZADD', key('running'), now + span, name)
end
while true do
  local name = call('ZPOPMIN', key('queue'))[1]
  if not name then return false end
  local at = call('HMGET', key('asked:') .. name, 'request', 'shared')
  if at[1] then
    call('ZADD', key('running'), now + span, name)
    return {name, at[2], at[1]}
  end
end
)";

const char* const kFinish = R"(
local name, reply, shared, shared_reply = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if shared ~= '' and shared_reply ~= '' then
  call('SET', key('shared:') .. shared, shared_reply, 'EX', 86400)
end
call('ZREM', key('running'), name)
call('ZREM', key('queue'), name)
if call('DEL', key('asked:') .. name) == 1 then
  call('SET', key('reply:') .. name, reply, 'EX', 3600)
  changed()
end
)";

const char* const kAnnounce = R"(
call('ZADD', key('hosts'), clock(), ARGV[1])
call('SET', key('host:') .. ARGV[1], ARGV[3], 'PX', ARGV[2])
)";

const char* const kAnnouncements = R"(
local answer = {}
for _, host in ipairs(call('ZRANGE', key('hosts'), 0, -1)) do
  local text = call('GET', key('host:') .. host)
  if text then
    answer[#answer + 1] = host
    answer[#answer + 1] = text
  end
end
return answer
)";

const char* const kDepart = R"(
call('ZREM', key('hosts'), ARGV[1])
call('DEL', key('host:') .. ARGV[1])
changed()
)";

}  // namespace

StepQueue::StepQueue(StepQueueConfig config)
    : client_(config.address, config.prefix, kCommon, config.patience),
      listener_(config.address, {config.prefix + "changes"}) {}

Result<std::optional<std::string>> StepQueue::ask(const AskedStep& step) {
  TRY_ASSIGN(const service::RedisReply reply,
             client_.run(kAsk, {step.name, step.shared, step.request}));
  if (reply.is_nil()) return std::optional<std::string>();
  return std::optional(reply.text());
}

Result<Collected> StepQueue::collect(const std::vector<std::string>& names) {
  TRY_ASSIGN(const service::RedisReply reply, client_.run(kCollect, names));
  if (reply.size() != 1 + 2 * names.size()) return fail_by_fault("the step queue answers oddly");
  Collected collected{.hosts = static_cast<int>(reply.integer_at(0))};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string state = reply.text_at(1 + 2 * k);
    if (state == "done") collected.replies[names[k]] = reply.text_at(2 + 2 * k);
    if (state == "lost") collected.lost.push_back(names[k]);
  }
  return collected;
}

Status StepQueue::withdraw(const std::string& name) {
  TRY(client_.run(kWithdraw, {name}));
  return ok();
}

Result<std::map<std::string, std::string>> StepQueue::announcements() {
  TRY_ASSIGN(const service::RedisReply reply, client_.run(kAnnouncements, {}));
  std::map<std::string, std::string> texts;
  for (std::size_t k = 0; k + 1 < reply.size(); k += 2)
    texts[reply.text_at(k)] = reply.text_at(k + 1);
  return texts;
}

Result<std::optional<TakenStep>> StepQueue::take(Milliseconds lease,
                                                 const std::vector<std::string>& held) {
  std::vector<std::string> arguments = {std::to_string(lease.count())};
  arguments.insert(arguments.end(), held.begin(), held.end());
  TRY_ASSIGN(const service::RedisReply reply, client_.run(kTake, arguments));
  if (reply.size() != 3) return std::optional<TakenStep>();
  return std::optional(
      TakenStep{.name = reply.text_at(0), .shared = reply.text_at(1), .request = reply.text_at(2)});
}

Status StepQueue::finish(const FinishedStep& step) {
  TRY(client_.run(kFinish, {step.name, step.reply, step.shared, step.shared_reply}));
  return ok();
}

Status StepQueue::announce(const std::string& host, Milliseconds span, const std::string& text) {
  TRY(client_.run(kAnnounce, {host, std::to_string(span.count()), text}));
  return ok();
}

Status StepQueue::depart(const std::string& host) {
  TRY(client_.run(kDepart, {host}));
  return ok();
}

}  // namespace tritonsmith::gym::steps
