// One stage of HMMER 3.4 over all targets, timed, for search.py: as p7_Pipeline() calls it, for every target.
//
//     hmmer_stages STAGE MODEL.hmm TARGETS.fa SECONDS SCORES
//
// STAGE is filter (SSV, and MSV where SSV has no result), bias, viterbi, forward, or domains (Forward, Backward and the
// domains). Loops over all targets until SECONDS of processor time are over; prints seconds per loop. SCORES gets a
// float per target: the stage's score in nats, or for domains the sum of the envelopes' scores.
// search_stages.py compiles it with HMMER's library.
#include <p7_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <easel.h>
#include <esl_alphabet.h>
#include <esl_random.h>
#include <esl_sq.h>
#include <esl_sqio.h>
#include <hmmer.h>

typedef struct {
    P7_OPROFILE *model;
    P7_BG *background;
    P7_OMX *forward_row, *backward_row, *forward_rows, *backward_rows;
    P7_DOMAINDEF *domains;
    ESL_RANDOMNESS *random;
} Tools;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float find_domains(Tools *tools, ESL_SQ *target) {
    float score = 0;
    p7_ForwardParser(target->dsq, target->n, tools->model, tools->forward_row, NULL);
    p7_omx_GrowTo(tools->backward_row, tools->model->M, 0, target->n);
    p7_BackwardParser(target->dsq, target->n, tools->model, tools->forward_row, tools->backward_row, NULL);
    esl_randomness_Init(tools->random, 42);
    p7_domaindef_ByPosteriorHeuristics(target, NULL, tools->model, tools->forward_row, tools->backward_row,
                                       tools->forward_rows, tools->backward_rows, tools->domains, tools->background,
                                       FALSE, NULL, NULL, NULL);
    for (int k = 0; k < tools->domains->ndom; k++) {
        score += tools->domains->dcl[k].envsc;
        p7_alidisplay_Destroy(tools->domains->dcl[k].ad);
        tools->domains->dcl[k].ad = NULL;
        free(tools->domains->dcl[k].scores_per_pos);
        tools->domains->dcl[k].scores_per_pos = NULL;
    }
    tools->domains->ndom = 0;
    p7_domaindef_Reuse(tools->domains);
    return score;
}

static float score_of(const char *stage, Tools *tools, ESL_SQ *target) {
    float score = 0, null_score;
    int length = (int)target->n;
    p7_bg_SetLength(tools->background, length);
    if (strcmp(stage, "bias") == 0) {
        p7_bg_FilterScore(tools->background, target->dsq, length, &score);
        return score;
    }
    p7_omx_GrowTo(tools->forward_row, tools->model->M, 0, length);
    if (strcmp(stage, "filter") == 0) {
        p7_oprofile_ReconfigMSVLength(tools->model, length);
        p7_bg_NullOne(tools->background, target->dsq, length, &null_score);
        p7_MSVFilter(target->dsq, length, tools->model, tools->forward_row, &score);
        return score;
    }
    p7_oprofile_ReconfigRestLength(tools->model, length);
    if (strcmp(stage, "viterbi") == 0)
        p7_ViterbiFilter(target->dsq, length, tools->model, tools->forward_row, &score);
    else if (strcmp(stage, "forward") == 0)
        p7_ForwardParser(target->dsq, length, tools->model, tools->forward_row, &score);
    else
        score = find_domains(tools, target);
    return score;
}

static ESL_SQ **read_targets(const char *path, const ESL_ALPHABET *alphabet, int *n) {
    ESL_SQFILE *file;
    ESL_SQ **targets = NULL;
    int capacity = 0;
    if (esl_sqfile_OpenDigital(alphabet, path, eslSQFILE_FASTA, NULL, &file) != eslOK) exit(3);
    for (*n = 0;; ++*n) {
        if (*n == capacity) targets = realloc(targets, sizeof *targets * (capacity = 2 * capacity + 64));
        targets[*n] = esl_sq_CreateDigital(alphabet);
        if (esl_sqio_Read(file, targets[*n]) != eslOK) break;
    }
    esl_sqfile_Close(file);
    return targets;
}

static Tools tools_for(P7_HMM *hmm, const ESL_ALPHABET *alphabet) {
    Tools tools;
    P7_PROFILE *profile = p7_profile_Create(hmm->M, alphabet);
    tools.background = p7_bg_Create(alphabet);
    tools.model = p7_oprofile_Create(hmm->M, alphabet);
    p7_ProfileConfig(hmm, tools.background, profile, 100, p7_LOCAL);
    p7_oprofile_Convert(profile, tools.model);
    p7_bg_SetFilter(tools.background, hmm->M, tools.model->compo);
    tools.forward_row = p7_omx_Create(hmm->M, 0, 400);
    tools.backward_row = p7_omx_Create(hmm->M, 0, 400);
    tools.forward_rows = p7_omx_Create(hmm->M, 400, 400);
    tools.backward_rows = p7_omx_Create(hmm->M, 400, 400);
    tools.random = esl_randomness_CreateFast(42);
    tools.domains = p7_domaindef_Create(tools.random);
    tools.domains->do_reseeding = TRUE;
    return tools;
}

int main(int argc, char **argv) {
    ESL_ALPHABET *alphabet = NULL;
    P7_HMMFILE *models;
    P7_HMM *hmm = NULL;
    if (argc != 6) return 2;
    impl_Init();
    p7_FLogsumInit();
    if (p7_hmmfile_OpenNoDB(argv[2], NULL, &models, NULL) != eslOK) return 3;
    if (p7_hmmfile_Read(models, &alphabet, &hmm) != eslOK) return 3;
    int n, n_loops = 0;
    ESL_SQ **targets = read_targets(argv[3], alphabet, &n);
    Tools tools = tools_for(hmm, alphabet);
    float *scores = calloc(n + 1, sizeof *scores);
    double begin = now(), seconds;
    do {
        for (int k = 0; k < n; k++) scores[k] = score_of(argv[1], &tools, targets[k]);
        n_loops++;
        seconds = now() - begin;
    } while (seconds < atof(argv[4]));
    FILE *out = fopen(argv[5], "wb");
    if (!out || fwrite(scores, sizeof *scores, n, out) != (size_t)n || fclose(out)) return 4;
    printf("%.9f\n", seconds / n_loops);
    return 0;
}
