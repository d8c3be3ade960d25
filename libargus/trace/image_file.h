/* Whether two images belong to the same file. */
#ifndef ARGUS_TRACE_IMAGE_FILE_H
#define ARGUS_TRACE_IMAGE_FILE_H

/* Orders two struct argus_image_entry by inode, device and path, for qsort() and bsearch(); 0 if
 * both belong to the same file. */
int image_file_compare(const void *left, const void *right);

#endif
