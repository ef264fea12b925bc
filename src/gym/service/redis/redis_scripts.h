// Holds the scripts of RedisJobStore, in Lua. Redis runs each of them alone and whole, so a script
// is a transaction. KEYS[1] is the prefix of all keys. Times are milliseconds since 1970 by the
// server's clock, because the clocks of hosts differ. A caller may give another time; tests do.
//
// Keys, each after the prefix:
//   job:NAME        hash: state, submission, verdict, final, version, priority, sequence,
//                   deadline_ms, submitted_ms, finished_ms, submitter, worker, span (of its lease),
//                   device, gpu (that concluded it), doubt (why it is judged again)
//   queue:DEVICE    sorted set of queued jobs that need this class of devices ("": any), by priority
//                   and then by the order of arrival
//   devices         set of the classes that jobs needed
//   running         sorted set of running jobs, by the end of their lease
//   deadlines       sorted set of unfinished jobs that have a deadline
//   finished        sorted set of done and cancelled jobs, by the time of their end
//   wanted:NAME     set of the clients that asked for a job
//   awaiting:CLIENT set of the jobs whose verdict a client has yet to get
//   events:CLIENT   sorted set of the jobs whose verdict a client got, by the event's number
//   withdrawn:WORKER set of the jobs that a worker need not judge any more
//   ticket:WORKER   the last call of take by a worker that got jobs, and their names
//   gone            sorted set of the clients that have left
//   owned           hash: how many unfinished jobs a submitter has
//   aliases, aliases_of:NAME   names that submitters gave to jobs
//   worker:WORKER   what a worker last said of itself; it ends with the span of its lease
//   workers         sorted set of the workers, by the time of their last heartbeat
//   steps:...       what gym/steps keeps; its hosts are listed among the workers
//   judged_on:GPU   sorted set of the jobs that a GPU concluded and that are not beyond doubt yet, by
//                   the time of their end
//   quarantine, quarantine_since, quarantine_jobs   hashes by GPU: the record, since when, and how
//                   many jobs are in doubt
//   calibrations    hash by GPU: the version of its first calibration, and that calibration
//   facts           hash: epoch, sequence, last_event, repeated_verdicts, judged_again
// and two channels, to which changes are published: `work`, that jobs wait, and `verdicts`, that
// jobs ended. Each program listens only to what it waits for, because a message goes to all of them.
#pragma once

namespace tritonsmith::gym::service::redis_scripts {

// Functions that the scripts share. It stands before each of them.
extern const char* const kCommon;

// Each comment names the arguments. A time of "" is the server's own.
extern const char* const kEpoch;    // a random one for a new store -> the epoch
extern const char* const kSubmit;   // time, limit, version, submitter, its share, then per job:
                                    // name, submission, priority, span to its deadline (0: none),
                                    // client, recalled verdict ("": none), class of devices
                                    // -> "ok" and 6 values a view, or "full", or "gone"
extern const char* const kFind;     // name -> the 6 values of a view, or nil
extern const char* const kCancel;   // time, client, name or "" for all that it awaits -> how many
extern const char* const kDismiss;  // time, client
extern const char* const kEvents;   // client, after, limit -> number, name, verdict ...
extern const char* const kAwaited;  // client -> how many
extern const char* const kRememberAlias;  // alias, name
extern const char* const kFindAlias;      // alias -> name
extern const char* const kCounts;         // -> queued by priority (3), running, repeated verdicts,
                                          // GPUs in quarantine, jobs judged again
extern const char* const kQueued;         // -> names
extern const char* const kSubmission;     // name -> submission, or nil unless it is queued
extern const char* const kTake;      // time, worker, span, ticket, most jobs, how many classes of
                                     // devices and GPUs, the classes, the GPUs, names that it holds
                                     // -> name, submission; ...
extern const char* const kRenew;     // time, worker, span, names that it holds
extern const char* const kConclude;  // time, worker, version, finished jobs to keep, then per job:
                                     // name, verdict, final (1 or 0), GPU ("": none)
extern const char* const kGiveBack;  // worker, name
extern const char* const kWithdrawn;  // worker -> names
extern const char* const kOverdue;    // time -> submissions
extern const char* const kAnnounce;   // time, worker, span, what it says of itself
extern const char* const kDepart;     // worker
extern const char* const kWorkers;    // time -> what a worker said, when; ...

// RedisGpuRecords runs these (redis_gpu_scripts.cc).
extern const char* const kFirstCalibration;  // GPU, version, calibration -> the first one
extern const char* const kVindicate;         // time, GPU, age
extern const char* const kQuarantine;        // time, GPU, class of devices, reason, record -> jobs
extern const char* const kClear;             // GPU, "anew" or "keep" -> 1, or 0
extern const char* const kQuarantined;       // -> record, since, jobs; ...

}  // namespace tritonsmith::gym::service::redis_scripts
